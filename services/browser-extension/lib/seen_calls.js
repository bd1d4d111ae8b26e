/** How many call ids are remembered. A server would have to repeat an id after this many others to run it again. */
export const REMEMBERED = 1_000;

/**
 * Remembers call ids, so that none runs twice: not when a frame is repeated, nor when the worker was asleep between.
 * Ids are written down before their call starts.
 */
export class SeenCalls {
  #store;
  #limit;
  #loading = null;

  /**
   * @param {{load(): Promise<Array<string|number>>, save(ids: Array<string|number>): Promise<void>}} store
   * @param {number} [limit]
   */
  constructor(store, limit = REMEMBERED) {
    this.#store = store;
    this.#limit = limit;
  }

  /**
   * @param {string|number} id
   * @returns {Promise<boolean>} false when the id was seen before
   */
  async add(id) {
    this.#loading ??= this.#store.load().then((ids) => new Set(ids));
    const seen = await this.#loading;
    if (seen.has(id)) return false;
    seen.add(id);
    // A Set lists its members in order of insertion: the first is the oldest.
    if (seen.size > this.#limit) seen.delete(seen.values().next().value);
    await this.#store.save([...seen]);
    return true;
  }
}
