import { textResult } from '../lib/results.js';

/** Lists the open tabs, as JSON, so that another call can name one by its tabId. */
export const listTabs = {
  name: 'list_tabs',
  parameters: {},

  async run() {
    const tabs = await chrome.tabs.query({});
    const list = tabs.map(({ id, windowId, index, active, title, url, pendingUrl, status }) => (
      { tabId: id, windowId, index, active, title, url: url || pendingUrl || '', status }
    ));
    return textResult([JSON.stringify(list, null, 1)]);
  },
};
