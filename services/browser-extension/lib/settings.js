/**
 * The settings: what the user saved in the options, over what config.json ships (an administrator may put the server
 * there, and a test everything). Kept in chrome.storage.local.
 *
 * @typedef {object} Settings
 * @property {string} server ws(s):// or http(s):// address, with a path where the gateway is not at the root
 * @property {string} user_id
 * @property {string} token a JWT; empty where the server trusts the user id
 * @property {string} node_id
 * @property {string} node_name
 */

/** What the user edits in the options. */
export const EDITABLE = ['server', 'user_id', 'token', 'node_name'];

/** Reads and writes settings. */
export class SettingsStore {
  #area;
  #defaults;
  #newId;
  #shipped = null;
  #nodeId = null;

  /**
   * @param {chrome.storage.StorageArea} area
   * @param {() => Promise<Partial<Settings>>} defaults config.json
   * @param {() => string} [newId]
   */
  constructor(area, defaults, newId = () => crypto.randomUUID()) {
    this.#area = area;
    this.#defaults = defaults;
    this.#newId = newId;
  }

  /** @returns {Promise<Settings>} node_id is empty until the worker has chosen one */
  async load() {
    this.#shipped ??= this.#defaults();
    const shipped = await this.#shipped;
    const saved = await this.#area.get([...EDITABLE, 'node_id']);
    const settings = { node_id: saved.node_id || shipped.node_id || '' };
    for (const key of EDITABLE) settings[key] = (saved[key] ?? shipped[key] ?? '').trim();
    return settings;
  }

  /**
   * The settings with a node id: the saved one, else config.json's, else a new one, which is then kept. Only the worker
   * calls this, so that no two pages choose at the same time.
   *
   * @returns {Promise<Settings>}
   */
  async loadForNode() {
    const settings = await this.load();
    if (settings.node_id) return settings;
    this.#nodeId ??= this.#chooseNodeId();
    return { ...settings, node_id: await this.#nodeId };
  }

  async #chooseNodeId() {
    const id = `ext_${this.#newId()}`;
    await this.#area.set({ node_id: id });
    return id;
  }

  /** @param {Partial<Settings>} values of the editable ones */
  async save(values) {
    await this.#area.set(values);
  }
}

/** @returns {Promise<Partial<Settings>>} the extension's config.json */
export async function shippedSettings() {
  const response = await fetch(chrome.runtime.getURL('config.json'));
  return response.json();
}
