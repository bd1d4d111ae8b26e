/** Clicks an element as a mouse would: the events before the click are there for pages that wait for them. */
globalThis.hecaton.click = ({ selector }) =>
  globalThis.hecaton.withElement(selector, (element) => {
    if (element.matches(':disabled')) return { failure: 'element is disabled' };
    if (!globalThis.hecaton.isVisible(element)) return { failure: 'element is not visible' };
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = element.getBoundingClientRect();
    const at = {
      bubbles: true,
      cancelable: true,
      composed: true,
      view: window,
      clientX: box.left + box.width / 2,
      clientY: box.top + box.height / 2,
    };
    const pointer = { ...at, pointerId: 1, pointerType: 'mouse', isPrimary: true };
    element.dispatchEvent(new PointerEvent('pointerdown', { ...pointer, buttons: 1 }));
    const pressed = element.dispatchEvent(new MouseEvent('mousedown', { ...at, buttons: 1 }));
    if (pressed && element instanceof HTMLElement) element.focus({ preventScroll: true });
    element.dispatchEvent(new PointerEvent('pointerup', pointer));
    element.dispatchEvent(new MouseEvent('mouseup', at));
    // Not dispatchEvent: only click() also follows links and toggles boxes in every element that has such a default.
    if (element instanceof HTMLElement) element.click();
    else element.dispatchEvent(new MouseEvent('click', at));
    return { value: null };
  });
