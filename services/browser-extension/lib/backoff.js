/**
 * Full jitter: each wait is drawn evenly from [0, window), and the window doubles with every failure up to a cap.
 * Clients that lost the same server at the same moment so come back spread over the whole window, not in steps.
 */
export class Backoff {
  #baseMs;
  #capMs;
  #random;
  #failures = 0;

  /**
   * @param {object} [options]
   * @param {number} [options.baseMs] the first window, milliseconds
   * @param {number} [options.capMs] the largest window, milliseconds
   * @param {() => number} [options.random] evenly distributed in [0, 1)
   */
  constructor({ baseMs = 1_000, capMs = 30_000, random = Math.random } = {}) {
    this.#baseMs = baseMs;
    this.#capMs = capMs;
    this.#random = random;
  }

  /** @returns {number} the next wait, whole milliseconds; counts one failure */
  next() {
    // The exponent is bounded so that a node left alone for a week does not compute with Infinity.
    const window = Math.min(this.#capMs, this.#baseMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return Math.floor(this.#random() * window);
  }

  /** Forgets the failures: the next wait comes from the first window again. */
  reset() {
    this.#failures = 0;
  }
}
