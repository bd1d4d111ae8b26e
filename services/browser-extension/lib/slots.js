import { ToolError } from './errors.js';

/** A fixed number of slots, given out in order of arrival. */
export class Slots {
  #free;
  #maxWaiting;
  #waiting = [];

  /**
   * @param {number} count
   * @param {number} [maxWaiting] further ones are turned away at once
   */
  constructor(count, maxWaiting = Infinity) {
    this.#free = count;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs work in a slot, once one is free.
   *
   * @template T
   * @param {AbortSignal} signal ends the wait for a slot; the work listens to it itself
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   * @throws {ToolError} when cancelled while waiting, or when too many wait already
   */
  async run(signal, work) {
    await this.#acquire(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #acquire(signal) {
    if (signal.aborted) throw new ToolError('cancelled');
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    if (this.#waiting.length >= this.#maxWaiting) throw new ToolError('too many calls are waiting');
    return new Promise((resolve, reject) => {
      const waiter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(new ToolError('cancelled'));
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #release() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
