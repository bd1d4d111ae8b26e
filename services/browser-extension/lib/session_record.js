/**
 * One value in chrome.storage.session, which outlives the worker and ends with the browser.
 *
 * @template T
 */
export class SessionRecord {
  #key;
  #absent;

  /**
   * @param {string} key
   * @param {T} absent what load gives before the first save
   */
  constructor(key, absent) {
    this.#key = key;
    this.#absent = absent;
  }

  /** @returns {Promise<T>} */
  async load() {
    const { [this.#key]: value = this.#absent } = await chrome.storage.session.get(this.#key);
    return value;
  }

  /** @param {T} value */
  async save(value) {
    await chrome.storage.session.set({ [this.#key]: value });
  }
}
