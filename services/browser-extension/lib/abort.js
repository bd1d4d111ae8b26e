import { ToolError } from './errors.js';

/**
 * Waits for a promise, or for the cancellation if that comes first. What the promise stands for may go on: browser
 * calls cannot be taken back, only waited for no longer.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 * @throws {ToolError} when cancelled
 */
export function untilAborted(promise, signal) {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new ToolError('cancelled'));
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel));
  });
}
