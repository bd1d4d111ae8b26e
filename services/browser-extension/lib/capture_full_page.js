import { untilAborted } from './abort.js';
import { ToolError } from './errors.js';

/** The longest side that Chromium's compositor draws in one piece, device pixels; beyond it pictures repeat or stay empty. */
const MAX_SIDE = 16_384;

/**
 * Attaching a debugger slides a bar in above the page, over about 250 ms. Every step makes the tab a little lower, and a
 * picture taken meanwhile is the visible part stretched over the whole page. So the tab has to keep its height for this
 * long before the picture, and until after it. Milliseconds.
 */
const STILL_MS = 300;
const LOOK_EVERY_MS = 50;
const ATTEMPTS = 3;

/**
 * The whole page in one picture, through the debugger: captureVisibleTab has only the visible part, and stitching
 * would repeat what is fixed on the screen and take half a second a piece.
 *
 * @param {chrome.tabs.Tab} tab in front of its window
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
    return await untilAborted(captureStill(target, signal), signal);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError(error.message);
  } finally {
    await chrome.debugger.detach(target).catch(() => {}); // A closed tab has detached itself.
  }
}

async function captureStill(target, signal) {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const height = await stillHeight(target, signal);
    const picture = await capture(target);
    if ((await heightOf(target)) === height) return picture;
  }
  throw new ToolError('the window did not keep its size');
}

async function stillHeight(target, signal) {
  let height = await heightOf(target);
  for (let still = 0; still < STILL_MS; still += LOOK_EVERY_MS) {
    await untilAborted(new Promise((resolve) => { setTimeout(resolve, LOOK_EVERY_MS); }), signal);
    const now = await heightOf(target);
    if (now !== height) still = 0;
    height = now;
  }
  return height;
}

async function heightOf({ tabId }) {
  return (await chrome.tabs.get(tabId)).height;
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
