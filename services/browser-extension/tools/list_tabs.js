import { textResult } from '../lib/results.js';

/** Lists the open tabs, as JSON, so that another call can name one by its tabId. */
export const listTabs = {
  name: 'list_tabs',
  title: 'List the tabs',
  description: 'Lists the open tabs of the user\'s browser, with title, address and tabId.',
  readOnly: true,
  parameters: {},

  async run() {
    const tabs = await chrome.tabs.query({});
    const list = tabs.map(({ id, windowId, index, active, title, url, pendingUrl, status }) => (
      { tabId: id, windowId, index, active, title, url: url || pendingUrl || '', status }
    ));
    return textResult([JSON.stringify(list, null, 1)]);
  },
};
