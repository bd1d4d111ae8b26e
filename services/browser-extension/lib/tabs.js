import { ToolError } from './errors.js';

/**
 * The tab that a call is about: the one it names, else the active one of the window used last.
 *
 * @param {number} [tabId]
 * @returns {Promise<chrome.tabs.Tab>}
 * @throws {ToolError} when there is no such tab
 */
export async function findTab(tabId) {
  if (tabId === undefined) {
    const tab = await activeTab();
    if (!tab) throw new ToolError('no tab is open');
    return tab;
  }
  try {
    return await chrome.tabs.get(tabId);
  } catch {
    throw new ToolError(`there is no tab ${tabId}`);
  }
}

/** @returns {Promise<chrome.tabs.Tab|undefined>} undefined where no tab is open */
export async function activeTab() {
  const focused = await chrome.tabs.query({ active: true, lastFocusedWindow: true, windowType: 'normal' });
  if (focused.length > 0) return focused[0];
  // Without a focused browser window (headless, or the user is in another program), the one looked at last.
  const active = await chrome.tabs.query({ active: true, windowType: 'normal' });
  return active.sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0))[0];
}

/** @returns {string} how results name a tab */
export function describeTab(tab) {
  return `tab ${tab.id} (${tab.url || tab.pendingUrl || 'unknown address'})`;
}
