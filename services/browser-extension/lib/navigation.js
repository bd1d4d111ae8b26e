import { ToolError } from './errors.js';

/** Shorter than the 60 s a call has by default (seed 000), so that the caller hears this reason. Milliseconds. */
export const LOAD_TIMEOUT_MS = 50_000;

const MAIN_FRAME = 0;

/**
 * Watches one tab's main frame from before a navigation until it has loaded or failed.
 *
 * A tab that was still loading, or a page that sends the browser on by script, makes an error event for the document
 * that is left behind. It is told from a failure by what it belongs to: a document that was there before, or one after
 * which another navigation has begun.
 */
export class Navigation {
  // Static after construction.
  #tabId;
  #signal;
  #leftDocument;
  #outcome;
  #listeners;
  #timer;

  // Changed by events.
  #begun = 0;
  #settle;

  /**
   * @param {number} tabId
   * @param {AbortSignal} signal cancels the wait, and the loading where the page lets it
   */
  static async watch(tabId, signal) {
    const frame = await chrome.webNavigation.getFrame({ tabId, frameId: MAIN_FRAME });
    return new Navigation(tabId, signal, frame?.documentId);
  }

  constructor(tabId, signal, leftDocument) {
    this.#tabId = tabId;
    this.#signal = signal;
    this.#leftDocument = leftDocument;
    this.#outcome = new Promise((resolve, reject) => {
      this.#settle = { resolve, fail: (text) => reject(new ToolError(text)) };
    });
    // It may fail before anyone waits for it, and nobody may ever: both are fine.
    this.#outcome.catch(() => {});
    this.#timer = setTimeout(() => this.#settle.fail(`the page was still loading after ${LOAD_TIMEOUT_MS / 1000} s`), LOAD_TIMEOUT_MS);
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
    const events = chrome.webNavigation;
    const onMainFrame = (react) => (details) => {
      if (details.tabId === this.#tabId && details.frameId === MAIN_FRAME) react(details);
    };
    const loaded = onMainFrame(() => this.#settle.resolve());
    const listeners = [
      [events.onBeforeNavigate, onMainFrame(() => { this.#begun += 1; })],
      [events.onErrorOccurred, onMainFrame((details) => this.#failed(details))],
      [events.onCompleted, loaded],
      // The same page, another #fragment: nothing is loaded, so nothing completes.
      [events.onReferenceFragmentUpdated, loaded],
      [chrome.tabs.onRemoved, (tabId) => { if (tabId === this.#tabId) this.#settle.fail('the tab was closed'); }],
    ];
    for (const [event, listener] of listeners) event.addListener(listener);
    this.#signal.addEventListener('abort', this.#cancel, { once: true });
    if (this.#signal.aborted) this.#cancel();
    return listeners;
  }

  #failed({ documentId, error, url }) {
    if (documentId && documentId === this.#leftDocument) return;
    this.#begun -= 1;
    if (this.#begun > 0) return;
    this.#settle.fail(`${url} could not be loaded: ${error}`);
  }

  #cancel = () => {
    this.#settle.fail('cancelled');
    chrome.scripting
      .executeScript({ target: { tabId: this.#tabId }, func: () => window.stop(), injectImmediately: true })
      .catch(() => {}); // A page that takes no scripts goes on loading; nobody waits for it.
  };
}
