{
  const selectContent = (element) => {
    if ('select' in element) {
      element.select();
      return;
    }
    getSelection().selectAllChildren(element);
  };

  const holds = (element) => ('value' in element ? element.value : element.innerText);

  /** Replaces what the element holds, with the events that typing makes. */
  const replaceText = (element, text) => {
    element.focus();
    selectContent(element);
    // The one way that makes the browser's own beforeinput and input events and keeps the page's undo. Some input types
    // (date, color, range) take no typed text; they take a value.
    const typed = document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
    if ('value' in element && (!typed || element.value === '') && element.value !== text) {
      element.value = text;
      element.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, data: text }));
    }
    element.dispatchEvent(new Event('change', { bubbles: true }));
  };

  /** Enter as a key first, for pages that listen for it; then the form, unless the page took the key for itself. */
  const submit = (element) => {
    const key = { key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, cancelable: true, composed: true };
    const wanted = element.dispatchEvent(new KeyboardEvent('keydown', key));
    if (wanted && element.form) element.form.requestSubmit();
    element.dispatchEvent(new KeyboardEvent('keyup', key));
  };

  const UNTYPEABLE = ['button', 'checkbox', 'file', 'hidden', 'image', 'radio', 'reset', 'submit'];

  const refusal = (element) => {
    const isField = element instanceof HTMLTextAreaElement
      || (element instanceof HTMLInputElement && !UNTYPEABLE.includes(element.type));
    if (!isField && !element.isContentEditable) return 'element does not take text';
    if (element.matches(':disabled') || element.readOnly) return 'element is disabled or read-only';
    if (!globalThis.hecaton.isVisible(element)) return 'element is not visible';
    return '';
  };

  /** Types into a field; the value is what a visible field then holds, since pages shorten and reformat. */
  globalThis.hecaton.type = (args) =>
    globalThis.hecaton.withElement(args.selector, (element) => {
      const failure = refusal(element);
      if (failure) return { failure };
      element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      replaceText(element, args.text);
      const value = element.type === 'password' ? null : holds(element);
      if (args.submit) submit(element);
      return { value };
    });
}
