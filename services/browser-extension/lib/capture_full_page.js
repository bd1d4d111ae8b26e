import { untilAborted } from './abort.js';
import { ToolError } from './errors.js';

/** The longest side that Chromium's compositor draws in one piece, device pixels; beyond it pictures repeat or stay empty. */
const MAX_SIDE = 16_384;

/**
 * The whole page in one picture, through the debugger: captureVisibleTab has only the visible part, and stitching
 * would repeat what is fixed on the screen and take half a second a piece.
 *
 * @param {chrome.tabs.Tab} tab
 * @param {AbortSignal} signal
 * @returns {Promise<{png: string, note: string}>} the PNG in base64
 */
export async function captureFullPage(tab, signal) {
  const target = { tabId: tab.id };
  try {
    await chrome.debugger.attach(target, '1.3');
  } catch (error) {
    throw new ToolError(error.message);
  }
  try {
    return await untilAborted(capture(target), signal);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError(error.message);
  } finally {
    await chrome.debugger.detach(target).catch(() => {}); // A closed tab has detached itself.
  }
}

async function capture(target) {
  const { cssContentSize: page } = await chrome.debugger.sendCommand(target, 'Page.getLayoutMetrics');
  const { result: ratio } = await chrome.debugger.sendCommand(target, 'Runtime.evaluate', { expression: 'devicePixelRatio' });
  const longest = Math.floor(MAX_SIDE / ratio.value);
  const width = Math.min(page.width, longest);
  const height = Math.min(page.height, longest);
  const { data } = await chrome.debugger.sendCommand(target, 'Page.captureScreenshot', {
    format: 'png',
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height, scale: 1 },
  });
  const cut = width < page.width || height < page.height;
  return { png: data, note: cut ? `, its first ${width} x ${height} of ${page.width} x ${page.height} pixels` : '' };
}
