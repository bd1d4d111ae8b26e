import { SettingsStore, shippedSettings } from '../lib/settings.js';
import { followStatus, statusLine } from '../lib/status.js';

const byId = (id) => document.getElementById(id);

byId('connect').addEventListener('click', () => chrome.runtime.sendMessage({ type: 'connect' }));
byId('options').addEventListener('click', () => chrome.runtime.openOptionsPage());

const { server, node_id: node } = await new SettingsStore(chrome.storage.local, shippedSettings).load();
byId('server').textContent = server;
byId('node').textContent = node;

// A stopped worker leaves the last status behind; waking it brings the status up to date.
chrome.runtime.sendMessage({ type: 'wake' });
await followStatus((status) => {
  byId('status').textContent = statusLine(status);
  byId('connect').hidden = status.state === 'connected';
});
