import { EDITABLE, SettingsStore, shippedSettings } from '../lib/settings.js';
import { followStatus, statusLine } from '../lib/status.js';

const form = document.getElementById('options');
const store = new SettingsStore(chrome.storage.local, shippedSettings);

const current = await store.load();
for (const key of EDITABLE) form.elements[key].value = current[key];
document.getElementById('node_id').textContent = current.node_id;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const values = Object.fromEntries(EDITABLE.map((key) => [key, form.elements[key].value.trim()]));
  await store.save(values);
  await chrome.runtime.sendMessage({ type: 'connect' });
});

await followStatus((status) => {
  document.getElementById('status').textContent = statusLine(status);
});
