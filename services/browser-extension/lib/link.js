import { encodeFrame, heartbeat, pong, readFrame } from './frames.js';

/** A server that does not take the connection in this time is not there. Milliseconds, as all here. */
export const CONNECT_TIMEOUT_MS = 15_000;
/**
 * The server acknowledges every heartbeat. One that hangs keeps its sockets, so a heartbeat is a question, and any frame after it an
 * answer: a server that gives none within ANSWER_MS is left.
 */
export const HEARTBEAT_MIN_MS = 6_000;
export const HEARTBEAT_MAX_MS = 7_000;
export const ANSWER_MS = 6_000;
/** What a line carries at least, in bytes a millisecond: a heartbeat waits behind what was written before it. */
const SLOWEST_LINE = 175;
/** A question whose time was over so much before it was noticed was open while the machine slept, and is asked again. */
export const OVERSLEPT_MS = 2_000;
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
  #heard = 0; // how many frames
  #asked = { at: 0, heard: 0, wait: 0 }; // the last heartbeat
  #writtenAt = 0; // when the slowest line has carried what was written
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
    socket.onmessage = (event) => this.#receive(event.data);
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
    this.#openedAt = Date.now();
    this.#send(this.#register);
    this.#scheduleHeartbeat(0);
  }

  /** @param {number} passed since the last heartbeat */
  #scheduleHeartbeat(passed) {
    clearTimeout(this.#timer);
    const wait = HEARTBEAT_MIN_MS + this.#random() * (HEARTBEAT_MAX_MS - HEARTBEAT_MIN_MS);
    this.#timer = setTimeout(() => this.#beat(), Math.max(0, wait - passed));
  }

  #beat() {
    const now = Date.now();
    this.#asked = { at: now, heard: this.#heard, wait: ANSWER_MS + Math.max(0, this.#writtenAt - now) };
    const { status, tasks } = this.#handlers.load();
    this.#send(heartbeat(status, tasks));
    this.#timer = setTimeout(() => this.#check(), this.#asked.wait);
  }

  /** Looks whether the last heartbeat was answered. */
  #check() {
    const passed = Date.now() - this.#asked.at;
    if (this.#heard !== this.#asked.heard) {
      this.#scheduleHeartbeat(passed);
    } else if (passed > this.#asked.wait + OVERSLEPT_MS) {
      this.#beat();
    } else {
      this.#end(ABNORMAL, 'The server fell silent');
    }
  }

  #receive(data) {
    this.#heard += 1;
    const frame = readFrame(data);
    if (frame.kind === 'ping') {
      this.#send(pong());
      return;
    }
    this.#handlers.onFrame(frame, (answer) => this.#send(answer));
  }

  #send(frame) {
    if (this.#ended) return;
    const text = encodeFrame(frame);
    this.#writtenAt = Math.max(this.#writtenAt, Date.now()) + text.length / SLOWEST_LINE;
    this.#socket.send(text);
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
