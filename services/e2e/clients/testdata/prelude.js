// What the sample calls and leaves undefined: the tools themselves.
async function executeToolCall(name, args) {
  const element = document.querySelector(args.selector);
  if (!element) throw new Error('Tool execution failed: element not found');
  if (name === 'click') element.click();
  if (name === 'type') element.value = args.text;
}
