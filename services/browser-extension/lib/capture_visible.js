import { untilAborted } from './abort.js';
import { ToolError } from './errors.js';

/**
 * Chrome allows chrome.tabs.MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND (2) captures in a second and refuses further ones;
 * waiting this long between two keeps below it. Milliseconds.
 */
const PAUSE_MS = 550;

/** A tab that has only just been shown or loaded may not have been drawn yet; then Chrome cannot read the picture. */
const ATTEMPTS = 4;

let earliest = 0;

/**
 * What a tab shows.
 *
 * @param {chrome.tabs.Tab} tab in front of its window
 * @param {AbortSignal} signal
 * @returns {Promise<{png: string, note: string}>} the PNG in base64
 */
export async function captureVisible(tab, signal) {
  const url = await capture(tab.windowId, signal);
  return { png: url.slice(url.indexOf(',') + 1), note: '' };
}

async function capture(windowId, signal) {
  for (let attempt = 1; ; attempt += 1) {
    await pause(signal);
    try {
      return await untilAborted(chrome.tabs.captureVisibleTab(windowId, { format: 'png' }), signal);
    } catch (error) {
      if (error instanceof ToolError) throw error;
      if (attempt === ATTEMPTS || !/readback/.test(error.message)) throw new ToolError(error.message);
    }
  }
}

async function pause(signal) {
  const wait = earliest - Date.now();
  if (wait > 0) await untilAborted(new Promise((resolve) => { setTimeout(resolve, wait); }), signal);
  earliest = Date.now() + PAUSE_MS;
}
