/**
 * Does something with a tab in front of its window, and puts the tab that was there before back. A tab behind is not
 * drawn: captureVisibleTab takes the one in front, and the debugger waits for a picture that does not come.
 *
 * @template T
 * @param {chrome.tabs.Tab} tab
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function inFront(tab, work) {
  const [front] = await chrome.tabs.query({ active: true, windowId: tab.windowId });
  if (!front || front.id === tab.id) return work();
  await chrome.tabs.update(tab.id, { active: true });
  try {
    return await work();
  } finally {
    await chrome.tabs.update(front.id, { active: true }).catch(() => {}); // The user may have closed it meanwhile.
  }
}
