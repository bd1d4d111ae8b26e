import { encodeFrame, heartbeat, pong, readFrame } from './frames.js';

/** A server that does not take the connection in this time is not there. Milliseconds, as all here. */
export const CONNECT_TIMEOUT_MS = 15_000;
/** Chrome puts a worker to sleep after 30 s without traffic, and the server forgets a node after 60 s. */
export const HEARTBEAT_MIN_MS = 20_000;
export const HEARTBEAT_MAX_MS = 25_000;
/** The server acknowledges every heartbeat, so this long a silence is a dead connection that nobody closed. */
export const SILENCE_MS = 60_000;
/** The close code that stands for an end without one (RFC 6455, section 7.1.5). */
export const ABNORMAL = 1006;

/**
 * The life of one WebSocket: it registers, sends heartbeats, answers pings, notices silence, and ends once.
 * Whether there will be another is for Connection to say.
 */
export class Link {
  // Static after construction.
  #socket;
  #register;
  #handlers;
  #random;

  // Changed by events.
  #timer;
  #lastHeard = 0;
  #openedAt = 0;
  #ended = false;

  /**
   * @param {WebSocket} socket just made, not yet open
   * @param {object} register the register frame
   * @param {object} handlers
   * @param {() => {status: string, tasks: number}} handlers.load what the heartbeats say
   * @param {(frame: import('./frames.js').Incoming, send: (frame: object) => void) => void} handlers.onFrame
   *   every frame that the link does not answer itself; `send` writes to this very socket, or nowhere once it ended
   * @param {(end: {code: number, reason: string, openMs: number}) => void} handlers.onEnd called once;
   *   openMs is how long the socket was open
   * @param {() => number} [random]
   */
  constructor(socket, register, handlers, random = Math.random) {
    this.#socket = socket;
    this.#register = register;
    this.#handlers = handlers;
    this.#random = random;
    this.#timer = setTimeout(() => this.#end(ABNORMAL, 'The server did not answer'), CONNECT_TIMEOUT_MS);
    socket.onopen = () => this.#opened();
    socket.onmessage = (event) => this.#heard(event.data);
    socket.onclose = (event) => this.#end(event.code, event.reason);
  }

  /** Sends a frame that answers nothing. */
  send(frame) {
    this.#send(frame);
  }

  /** Ends the link from this side. */
  close() {
    this.#end(1000, 'Closed by the extension');
  }

  #opened() {
    this.#openedAt = this.#lastHeard = Date.now();
    this.#send(this.#register);
    this.#scheduleHeartbeat();
  }

  #scheduleHeartbeat() {
    clearTimeout(this.#timer);
    const wait = HEARTBEAT_MIN_MS + this.#random() * (HEARTBEAT_MAX_MS - HEARTBEAT_MIN_MS);
    this.#timer = setTimeout(() => this.#beat(), wait);
  }

  #beat() {
    if (Date.now() - this.#lastHeard >= SILENCE_MS) {
      this.#end(ABNORMAL, 'The server fell silent');
      return;
    }
    const { status, tasks } = this.#handlers.load();
    this.#send(heartbeat(status, tasks));
    this.#scheduleHeartbeat();
  }

  #heard(data) {
    this.#lastHeard = Date.now();
    const frame = readFrame(data);
    if (frame.kind === 'ping') {
      this.#send(pong());
      return;
    }
    this.#handlers.onFrame(frame, (answer) => this.#send(answer));
  }

  #send(frame) {
    if (!this.#ended) this.#socket.send(encodeFrame(frame));
  }

  #end(code, reason) {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.#handlers.onEnd({ code, reason, openMs: this.#openedAt ? Date.now() - this.#openedAt : 0 });
  }
}
