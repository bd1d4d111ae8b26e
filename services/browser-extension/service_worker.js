import { Calls } from './lib/calls.js';
import { Connection } from './lib/connection.js';
import { errorFrame, noWorkflows, unknownWorkflow } from './lib/frames.js';
import { readPlatform } from './lib/platform.js';
import { SeenCalls } from './lib/seen_calls.js';
import { SessionRecord } from './lib/session_record.js';
import { SettingsStore, shippedSettings } from './lib/settings.js';
import { showStatus } from './lib/status.js';
import { registerFrame, socketTarget } from './lib/target.js';
import { TOOLS } from './tools/index.js';

// The worker: wires settings, connection and tools together, and has the browser wake it. Chrome stops an idle worker
// after 30 s and starts it again for an event; so every listener is added while this file is first run, and what must
// survive is in chrome.storage.

const MAX_CONCURRENT_TASKS = 3;
const ALARM = 'keep-connected';
/** The shortest period that Chrome allows. */
const ALARM_MINUTES = 0.5;

const settings = new SettingsStore(chrome.storage.local, shippedSettings);
const calls = new Calls(TOOLS, new SeenCalls(new SessionRecord('seen_calls', [])), MAX_CONCURRENT_TASKS);

const connection = new Connection({
  prepare,
  openSocket: (url, protocols) => new WebSocket(url, protocols),
  holds: new SessionRecord('hold', null),
  load: () => calls.load(),
  onFrame: handleFrame,
  onLost: () => calls.cancelAll(),
  onState: (state, text) => showStatus({ state, text }),
});

async function prepare() {
  const current = await settings.loadForNode();
  const target = socketTarget(current);
  if (!target) return null;
  return { ...target, register: registerFrame(current, await readPlatform(), TOOLS, MAX_CONCURRENT_TASKS) };
}

function handleFrame(frame, send) {
  switch (frame.kind) {
    case 'call':
      calls.handle(frame, send);
      break;
    case 'bad_call':
      send(errorFrame(frame.id, frame.error.code, frame.error.message));
      break;
    case 'cancel':
      calls.cancel(frame.id);
      break;
    case 'get_workflows':
      send(noWorkflows());
      break;
    case 'execute_workflow':
      send(unknownWorkflow(frame.frame));
      break;
  }
}

chrome.alarms.onAlarm.addListener(() => connection.wake());
chrome.runtime.onStartup.addListener(() => connection.wake());
chrome.runtime.onMessage.addListener((message) => {
  if (message?.type === 'connect') connection.restart();
  if (message?.type === 'token') settings.load().then(({ token }) => connection.renew(token));
  if (message?.type === 'wake') connection.wake();
});
chrome.runtime.onInstalled.addListener(async ({ reason }) => {
  if (reason === 'install' && !socketTarget(await settings.load())) chrome.runtime.openOptionsPage();
});

// The token is for the extension's own pages and worker, not for scripts beside web pages.
chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
chrome.alarms.create(ALARM, { periodInMinutes: ALARM_MINUTES });
connection.wake();
