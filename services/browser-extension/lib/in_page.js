import { untilAborted } from './abort.js';
import { ArgumentError, ToolError } from './errors.js';

const PAGE_SCRIPTS = ['page/element.js', 'page/click.js', 'page/type.js', 'page/text.js'];

/**
 * Runs one of the actions of page/*.js in a tab's page, in the extension's own isolated world: the page neither sees
 * nor can replace them.
 *
 * @param {chrome.tabs.Tab} tab
 * @param {'click'|'type'|'text'} action
 * @param {object} args
 * @param {AbortSignal} signal
 * @returns {Promise<any>} the action's value
 * @throws {ToolError|ArgumentError} what the action says went wrong, or that the page cannot be reached
 */
export async function inPage(tab, action, args, signal) {
  const outcome = await untilAborted(inject(tab.id, action, args), signal);
  if (outcome.invalid) throw new ArgumentError(outcome.invalid, outcome.problem);
  if (outcome.failure) throw new ToolError(outcome.failure);
  return outcome.value;
}

async function inject(tabId, action, args) {
  const target = { tabId };
  let injected;
  try {
    await chrome.scripting.executeScript({ target, files: PAGE_SCRIPTS });
    [injected] = await chrome.scripting.executeScript({
      target,
      func: (name, given) => globalThis.hecaton[name](given),
      args: [action, args],
    });
  } catch (error) {
    // The browser's own pages, the web store and pages of other extensions refuse scripts.
    throw new ToolError(error.message);
  }
  if (!injected?.result) throw new ToolError('the page went away meanwhile');
  return injected.result;
}
