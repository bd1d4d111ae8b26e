import { TAB_ID } from '../lib/arguments.js';
import { ArgumentError } from '../lib/errors.js';
import { Navigation } from '../lib/navigation.js';
import { textResult } from '../lib/results.js';
import { activeTab, describeTab, findTab } from '../lib/tabs.js';

const SCHEMES = ['http:', 'https:', 'about:'];

/** Takes a tab to an address and waits until the page has loaded; without any open tab, opens one. */
export const navigate = {
  name: 'navigate',
  title: 'Go to an address',
  description: 'Goes to an address in the user\'s browser and waits until the page has loaded.',
  readOnly: false,
  parameters: { url: { type: 'string', required: true, nonEmpty: true, description: 'An absolute http or https address' }, tabId: TAB_ID },

  async run({ url, tabId }, signal) {
    const address = readAddress(url);
    const tab = await tabFor(tabId);
    const navigation = new Navigation(tab.id, signal);
    try {
      await chrome.tabs.update(tab.id, { url: address });
      await navigation.loaded();
    } finally {
      navigation.unwatch();
    }
    const arrived = await findTab(tab.id);
    return textResult([`Navigated ${describeTab(arrived)}, title: ${arrived.title}`], arrived);
  },
};

/** Scripts and local files are not addresses that an agent may go to. */
function readAddress(url) {
  if (!URL.canParse(url)) throw new ArgumentError('url', 'must be an absolute URL');
  const { protocol, href } = new URL(url);
  if (!SCHEMES.includes(protocol)) throw new ArgumentError('url', 'must begin with http:// or https://');
  return href;
}

async function tabFor(tabId) {
  if (tabId !== undefined) return findTab(tabId);
  return (await activeTab()) ?? chrome.tabs.create({});
}
