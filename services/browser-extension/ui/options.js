import { EDITABLE, SettingsStore, shippedSettings } from '../lib/settings.js';
import { followStatus, statusLine } from '../lib/status.js';

const form = document.getElementById('options');
const store = new SettingsStore(chrome.storage.local, shippedSettings);

let current = await store.load();
for (const key of EDITABLE) form.elements[key].value = current[key];
document.getElementById('node_id').textContent = current.node_id;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const values = Object.fromEntries(EDITABLE.map((key) => [key, form.elements[key].value.trim()]));
  const changed = EDITABLE.filter((key) => values[key] !== current[key]);
  await store.save(values);
  current = { ...current, ...values };
  // A new token alone is shown on the connection that there is, whose calls go on.
  await chrome.runtime.sendMessage({ type: changed.join() === 'token' ? 'token' : 'connect' });
});

await followStatus((status) => {
  document.getElementById('status').textContent = statusLine(status);
});
