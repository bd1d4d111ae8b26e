import { TAB_ID } from '../lib/arguments.js';
import { inPage } from '../lib/in_page.js';
import { textResult } from '../lib/results.js';
import { describeTab, findTab } from '../lib/tabs.js';

/** Reads the visible text of an element, or of the page: the first content item is that text and nothing else. */
export const getText = {
  name: 'get_text',
  title: 'Read a page',
  description: 'Reads the visible text of an element, or of the whole page.',
  readOnly: true,
  parameters: { selector: { type: 'string', nonEmpty: true, description: 'A CSS selector; the whole page where it is left out' }, tabId: TAB_ID },

  async run({ selector, tabId }, signal) {
    const tab = await findTab(tabId);
    const text = await inPage(tab, 'text', { selector }, signal);
    return textResult([text, `Text of ${selector ?? 'the page'} in ${describeTab(tab)}`], tab);
  },
};
