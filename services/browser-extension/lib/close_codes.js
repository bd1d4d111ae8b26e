/**
 * What the extension does after a close. Codes: docs/protocols/zeus-nodes.md#close-codes.
 *
 * @typedef {object} ClosePolicy
 * @property {boolean} retry false: stay away until the user changes the options or asks to connect
 * @property {number} floorMs wait at least this long before the jittered backoff, milliseconds
 * @property {string} text for the user; empty where the server's own reason says it best
 */

const retry = (floorMs, text = '') => ({ retry: true, floorMs, text });
const stop = (text) => ({ retry: false, floorMs: 0, text });

const POLICIES = new Map([
  // Asking again with the same answer to give would only load the server.
  [4001, stop('The server misses the user id: set it in the options')],
  [4003, stop('The server refuses this user id or token, or the token has expired: change it in the options')],
  // Whoever connects last under a node id holds it. Coming back by itself, each of two browsers would throw the other
  // out forever; so the older one yields until its user asks for it.
  [4409, stop('Another browser has connected under this node id')],
  // A place becomes free when another of the user's browsers goes.
  [4009, retry(60_000, 'This user has as many nodes connected as allowed')],
  // Overloaded: leave it time.
  [1013, retry(5_000, 'The server is overloaded')],
  [1012, retry(0, 'The server restarts')],
]);

/**
 * @param {number} code the WebSocket close code
 * @returns {ClosePolicy}
 */
export function closePolicy(code) {
  return POLICIES.get(code) ?? retry(0);
}
