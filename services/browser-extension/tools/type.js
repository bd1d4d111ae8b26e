import { TAB_ID } from '../lib/arguments.js';
import { inPage } from '../lib/in_page.js';
import { textResult } from '../lib/results.js';
import { describeTab, findTab } from '../lib/tabs.js';

/** Replaces the text of a field, and with `submit` sends its form as Enter would. */
export const type = {
  name: 'type',
  title: 'Type into a field',
  description: 'Replaces what a field of the page holds.',
  readOnly: false,
  parameters: {
    selector: { type: 'string', required: true, nonEmpty: true, description: 'A CSS selector' },
    text: { type: 'string', required: true },
    submit: { type: 'boolean', description: 'Whether to press Enter afterwards and send the form' },
    tabId: TAB_ID,
  },

  async run({ selector, text, submit = false, tabId }, signal) {
    const tab = await findTab(tabId);
    const held = await inPage(tab, 'type', { selector, text, submit }, signal);
    const done = `Typed into ${selector}${submit ? ' and submitted' : ''} in ${describeTab(tab)}`;
    const changed = held !== null && held !== text;
    return textResult(changed ? [done, `The field then held: ${held}`] : [done], tab);
  },
};
