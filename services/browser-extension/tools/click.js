import { TAB_ID } from '../lib/arguments.js';
import { inPage } from '../lib/in_page.js';
import { textResult } from '../lib/results.js';
import { describeTab, findTab } from '../lib/tabs.js';

/** Clicks the first element that a CSS selector names. */
export const click = {
  name: 'click',
  title: 'Click',
  description: 'Scrolls to the first element of a page that a CSS selector names, and clicks it.',
  readOnly: false,
  parameters: { selector: { type: 'string', required: true, nonEmpty: true, description: 'A CSS selector' }, tabId: TAB_ID },

  async run({ selector, tabId }, signal) {
    const tab = await findTab(tabId);
    await inPage(tab, 'click', { selector }, signal);
    return textResult([`Clicked ${selector} in ${describeTab(tab)}`], tab);
  },
};
