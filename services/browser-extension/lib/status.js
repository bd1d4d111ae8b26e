/**
 * What the user sees of the connection: the badge on the extension's button, and the record that the popup shows.
 *
 * @typedef {object} Status
 * @property {import('./connection.js').State} state
 * @property {string} text why, where there is something to say
 */

const LOOKS = {
  connected: { badge: 'on', color: '#1a7f37', title: 'connected' },
  connecting: { badge: '…', color: '#9a6700', title: 'connecting' },
  waiting: { badge: '…', color: '#9a6700', title: 'not connected, will try again' },
  stopped: { badge: '!', color: '#cf222e', title: 'not connected' },
  unconfigured: { badge: '!', color: '#cf222e', title: 'not set up' },
};

const KEY = 'status';

/** @returns {string} one line for the user */
export function statusLine({ state, text }) {
  const { title } = LOOKS[state];
  return `Hecaton: ${title}${text ? `. ${text}` : ''}`;
}

/** @param {Status} status */
export async function showStatus(status) {
  const { badge, color } = LOOKS[status.state];
  await Promise.all([
    chrome.action.setBadgeText({ text: badge }),
    chrome.action.setBadgeBackgroundColor({ color }),
    chrome.action.setTitle({ title: statusLine(status) }),
    chrome.storage.session.set({ [KEY]: status }),
  ]);
}

/**
 * Calls back with the status, now and at every change.
 *
 * @param {(status: Status) => void} show
 */
export async function followStatus(show) {
  chrome.storage.session.onChanged.addListener((changes) => {
    if (changes[KEY]) show(changes[KEY].newValue);
  });
  const { [KEY]: status } = await chrome.storage.session.get(KEY);
  if (status) show(status);
}
