// Page scripts are classic scripts that put their actions on one object of the isolated world. They may be injected again
// into the same page, so they only assign. An action returns {value}, {failure: text} or {invalid: argument, problem: text}.
globalThis.hecaton ??= {};

/**
 * Finds the element that a selector names and hands it to an action.
 *
 * @param {string} selector CSS
 * @param {(element: Element) => object} act
 * @returns {object} an outcome
 */
globalThis.hecaton.withElement = (selector, act) => {
  let element;
  try {
    element = document.querySelector(selector);
  } catch {
    return { invalid: 'selector', problem: `is not a CSS selector: ${selector}` };
  }
  return element ? act(element) : { failure: 'element not found' };
};

/** @returns {boolean} whether an element takes up space and is not hidden */
globalThis.hecaton.isVisible = (element) =>
  element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible';
