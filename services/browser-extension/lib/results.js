/**
 * Tool results as docs/protocols/zeus-nodes.md#results has them. `tabId` beside the content tells programs which tab it
 * was; every tool also says so in its text.
 */

const text = (value) => ({ type: 'text', text: value });

/**
 * @param {string[]} texts one content item each
 * @param {chrome.tabs.Tab} [tab]
 */
export function textResult(texts, tab) {
  return { content: texts.map(text), isError: false, ...(tab && { tabId: tab.id }) };
}

/**
 * @param {string} caption
 * @param {string} png base64
 * @param {chrome.tabs.Tab} tab
 */
export function screenshotResult(caption, png, tab) {
  return {
    content: [text(caption), { type: 'image', data: png, mimeType: 'image/png' }],
    isError: false,
    _screenshot: png,
    tabId: tab.id,
  };
}
