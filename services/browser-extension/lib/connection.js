import { Backoff } from './backoff.js';
import { closePolicy } from './close_codes.js';
import { newToken } from './frames.js';
import { Link } from './link.js';

/** A link that was open this long was a good one: the next wait starts from the first window. Milliseconds. */
export const STABLE_MS = 10_000;

/**
 * @typedef {object} Target where to connect and what to say there
 * @property {string} url
 * @property {string[]} protocols the WebSocket subprotocols to offer
 * @property {object} register the register frame
 *
 * @typedef {object} Hold a time to stay away, kept where it outlives the worker
 * @property {number|null} until milliseconds since 1970; null until the user does something
 * @property {string} text why, for the user
 *
 * @typedef {'unconfigured'|'connecting'|'connected'|'waiting'|'stopped'} State
 */

/**
 * Keeps one link to the server up: at most one socket at any time, full-jitter waits between them, and no more attempts
 * where the server's close code says that they are pointless.
 */
export class Connection {
  // Static after construction.
  #deps;
  #backoff;
  #random;

  // One attempt at a time: #generation tells an attempt that was overtaken by a restart.
  #generation = 0;
  #preparing = false;
  #link = null;
  #welcome = false; // the server has registered the link
  #retryTimer = null;

  /**
   * @param {object} deps
   * @param {() => Promise<Target|null>} deps.prepare null while the settings do not suffice
   * @param {(url: string, protocols: string[]) => WebSocket} deps.openSocket may throw, as the constructor does
   * @param {{load(): Promise<Hold|null>, save(hold: Hold|null): Promise<void>}} deps.holds
   * @param {() => {status: string, tasks: number}} deps.load what the heartbeats say
   * @param {(frame: object, send: (frame: object) => void) => void} deps.onFrame
   * @param {() => void} deps.onLost the link ended: answers to its calls have nowhere to go
   * @param {(state: State, text: string) => void} deps.onState
   * @param {() => number} [deps.random]
   */
  constructor(deps) {
    this.#deps = deps;
    this.#random = deps.random ?? Math.random;
    this.#backoff = new Backoff({ random: this.#random });
  }

  /** Connects, unless connected, connecting, waiting for the next attempt, or held. Safe to call at any time. */
  async wake() {
    if (this.#link || this.#preparing || this.#retryTimer !== null) return;
    const generation = this.#generation;
    this.#preparing = true;
    try {
      await this.#attempt(() => generation === this.#generation);
    } finally {
      if (generation === this.#generation) this.#preparing = false;
    }
  }

  /** Drops the link and every wait and hold, and connects anew: the user changed the options or asked for it. */
  async restart() {
    this.#generation += 1;
    this.#preparing = false;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    this.#backoff.reset();
    this.#dropLink();
    await this.#deps.holds.save(null);
    await this.wake();
  }

  /**
   * Shows the server a new token, so that the link and its calls go on; without a link, or without a token, it connects
   * anew, as the new settings say.
   *
   * @param {string} token
   */
  async renew(token) {
    if (this.#link && this.#welcome && token) {
      this.#link.send(newToken(token));
      return;
    }
    await this.restart();
  }

  async #attempt(current) {
    const hold = await this.#deps.holds.load();
    if (!current()) return;
    if (hold?.until === null) {
      this.#deps.onState('stopped', hold.text);
      return;
    }
    if (hold && hold.until > Date.now()) {
      this.#retryIn(hold.until - Date.now(), hold.text);
      return;
    }
    const target = await this.#deps.prepare();
    if (!current()) return;
    if (!target) {
      this.#deps.onState('unconfigured', 'Set the server and the user id in the options');
      return;
    }
    this.#open(target);
  }

  #open({ url, protocols, register }) {
    let socket;
    try {
      socket = this.#deps.openSocket(url, protocols);
    } catch (error) {
      // The URL or the token cannot be sent as they are; only the user can change that.
      this.#stop(`Cannot connect: ${error.message}`);
      return;
    }
    this.#deps.onState('connecting', '');
    const link = new Link(socket, register, {
      load: this.#deps.load,
      onFrame: (frame, send) => this.#received(frame, send),
      onEnd: (end) => this.#ended(link, end),
    }, this.#random);
    this.#link = link;
    this.#welcome = false;
  }

  #received(frame, send) {
    if (frame.kind === 'token_ack') {
      this.#deps.onState('connected', frame.success ? '' : `The server refused the new token: ${frame.reason}`);
      return;
    }
    if (frame.kind === 'registered') {
      this.#welcome = frame.success;
      const refused = frame.success ? '' : `The server refused the registration: ${frame.reason}`;
      this.#deps.onState('connected', refused);
      return;
    }
    this.#deps.onFrame(frame, send);
  }

  #ended(link, { code, reason, openMs }) {
    if (link !== this.#link) return;
    this.#link = null;
    this.#deps.onLost();
    const policy = closePolicy(code);
    const text = policy.text || reason || `The connection ended (${code})`;
    if (!policy.retry) {
      this.#stop(text);
      return;
    }
    if (openMs >= STABLE_MS) this.#backoff.reset();
    const wait = policy.floorMs + this.#backoff.next();
    // A long wait outlives the worker, whose timers do not: then an alarm wakes it, and the hold tells it to wait on.
    if (policy.floorMs > 0) this.#deps.holds.save({ until: Date.now() + wait, text });
    this.#retryIn(wait, text);
  }

  #retryIn(wait, text) {
    this.#deps.onState('waiting', text);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      this.wake();
    }, wait);
  }

  #stop(text) {
    this.#deps.onState('stopped', text);
    this.#deps.holds.save({ until: null, text });
  }

  #dropLink() {
    const link = this.#link;
    this.#link = null;
    if (!link) return;
    link.close();
    this.#deps.onLost();
  }
}
