import { ToolError } from './errors.js';

/** In milliseconds. Shorter than the 60 s of a call (docs/protocols/zeus-nodes.md#calls), so that the caller hears this reason. */
export const LOAD_TIMEOUT_MS = 50_000;

const MAIN_FRAME = 0;
/** The process of a navigation that has no document yet. */
const NO_PROCESS = -1;

/**
 * Watches one tab's main frame from just before a navigation until its page has loaded or failed.
 *
 * Other events are about pages that are being left: the one that was there, one that was on its way when the navigation
 * began, one that sends the browser on by script. So a navigation is followed through its three steps: begun, committed
 * (from then on its document has an id), completed.
 */
export class Navigation {
  // Static after construction.
  #tabId;
  #signal;
  #since = Date.now();
  #outcome;
  #settle;
  #listeners;
  #timer;

  // Changed by events.
  #begun = []; // the addresses of navigations that have no document yet
  #document = null; // the id of the newest document

  /**
   * @param {number} tabId
   * @param {AbortSignal} signal cancels the wait, and the loading where the page lets it
   */
  constructor(tabId, signal) {
    this.#tabId = tabId;
    this.#signal = signal;
    this.#outcome = new Promise((resolve, reject) => {
      this.#settle = { resolve, fail: (text) => reject(new ToolError(text)) };
    });
    // It may fail before anyone waits for it, and nobody may ever: both are fine.
    this.#outcome.catch(() => {});
    const late = `the page was still loading after ${LOAD_TIMEOUT_MS / 1000} s`;
    this.#timer = setTimeout(() => this.#settle.fail(late), LOAD_TIMEOUT_MS);
    this.#listeners = this.#listen();
  }

  /** Waits until the page has loaded. @throws {ToolError} when it failed, took too long, or was cancelled */
  loaded() {
    return this.#outcome;
  }

  /** Ends the watch; always to be called. */
  unwatch() {
    clearTimeout(this.#timer);
    for (const [event, listener] of this.#listeners) event.removeListener(listener);
    this.#signal.removeEventListener('abort', this.#cancel);
  }

  #listen() {
    const onMainFrame = (react) => (details) => {
      if (details.tabId === this.#tabId && details.frameId === MAIN_FRAME) react(details);
    };
    const events = chrome.webNavigation;
    const listeners = [
      [events.onBeforeNavigate, onMainFrame((details) => this.#began(details))],
      [events.onCommitted, onMainFrame((details) => this.#committed(details))],
      [events.onCompleted, onMainFrame((details) => this.#completed(details))],
      [events.onErrorOccurred, onMainFrame((details) => this.#failed(details))],
      [events.onReferenceFragmentUpdated, onMainFrame(() => this.#moved())],
      [chrome.tabs.onRemoved, (tabId) => { if (tabId === this.#tabId) this.#settle.fail('the tab was closed'); }],
    ];
    for (const [event, listener] of listeners) event.addListener(listener);
    this.#signal.addEventListener('abort', this.#cancel, { once: true });
    if (this.#signal.aborted) this.#cancel();
    return listeners;
  }

  /** In a tab that is still new, Chrome reports the first navigation late: only the time tells that it is not ours. */
  #began({ timeStamp, url }) {
    if (timeStamp >= this.#since) this.#begun.push(url);
  }

  #committed({ url, documentId, transitionQualifiers }) {
    // What was on its way before may arrive even now, if its page was about to be shown.
    const known = this.#begun.includes(url) || transitionQualifiers.includes('server_redirect');
    if (known && this.#ends(url)) this.#document = documentId;
  }

  #completed({ documentId }) {
    if (documentId === this.#document) this.#settle.resolve();
  }

  #failed({ processId, documentId, url, error }) {
    const ours = processId === NO_PROCESS ? this.#ends(url) : documentId === this.#document;
    // With another navigation under way, this was a page that sent the browser on.
    if (ours && this.#begun.length === 0) this.#settle.fail(`${url} could not be loaded: ${error}`);
  }

  /** The same page, another #fragment: nothing begins to load, so nothing completes. */
  #moved() {
    if (this.#begun.length === 0) this.#settle.resolve();
  }

  /** Takes a navigation from those that have begun; one that was redirected has another address than it began with. */
  #ends(url) {
    return this.#begun.splice(Math.max(0, this.#begun.indexOf(url)), 1).length > 0;
  }

  #cancel = () => {
    this.#settle.fail('cancelled');
    chrome.scripting
      .executeScript({ target: { tabId: this.#tabId }, func: () => window.stop(), injectImmediately: true })
      .catch(() => {}); // A page that takes no scripts goes on loading; nobody waits for it.
  };
}
