/** The text that a user sees in an element, or in the whole page; of a field, what it holds. */
globalThis.hecaton.text = ({ selector }) =>
  globalThis.hecaton.withElement(selector ?? ':root', (element) => {
    if (element.type === 'password') return { failure: 'the text of a password field stays in the browser' };
    if (element instanceof HTMLSelectElement) {
      return { value: [...element.selectedOptions].map((option) => option.label).join('\n') };
    }
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return { value: element.value };
    return { value: element.innerText ?? element.textContent };
  });
