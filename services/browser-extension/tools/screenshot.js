import { TAB_ID } from '../lib/arguments.js';
import { captureFullPage } from '../lib/capture_full_page.js';
import { captureVisible } from '../lib/capture_visible.js';
import { inFront } from '../lib/in_front.js';
import { screenshotResult } from '../lib/results.js';
import { Slots } from '../lib/slots.js';
import { describeTab, findTab } from '../lib/tabs.js';

// One at a time: a capture brings its tab to the front, and a page has room for one debugger of an extension.
const camera = new Slots(1);

/** A PNG of what the tab shows, or with `full_page` of the whole page. */
export const screenshot = {
  name: 'screenshot',
  title: 'Take a screenshot',
  description: 'Takes a picture of what the browser\'s tab shows, or of the whole page.',
  readOnly: true,
  parameters: { full_page: { type: 'boolean', description: 'Whether to take the whole page, not only what is in sight' }, tabId: TAB_ID },

  async run({ full_page: fullPage = false, tabId }, signal) {
    const tab = await findTab(tabId);
    const capture = fullPage ? captureFullPage : captureVisible;
    const { png, note } = await camera.run(signal, () => inFront(tab, () => capture(tab, signal)));
    return screenshotResult(`Screenshot of ${fullPage ? 'the full page in ' : ''}${describeTab(tab)}${note}`, png, tab);
  },
};
