import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettingsStore } from '../lib/settings.js';
import { definition } from '../lib/definition.js';
import { TOOLS } from '../tools/index.js';
import { registerFrame, socketTarget } from '../lib/target.js';
import { FakeStorage } from './fakes.js';

const SHIPPED = { server: 'ws://shipped', user_id: 'u', token: '', node_id: '', node_name: '' };
const store = (area, shipped = SHIPPED) => new SettingsStore(area, async () => shipped, () => crypto.randomUUID());

test('what the user saved goes over what was shipped', async () => {
  const area = new FakeStorage();
  await store(area).save({ server: ' wss://mine ', token: 't' });
  const settings = await store(area).load();
  assert.deepEqual(settings, { server: 'wss://mine', user_id: 'u', token: 't', node_id: '', node_name: '' });
});

test('the node id is made once and kept', async () => {
  const area = new FakeStorage();
  const first = store(area);
  const [a, b] = await Promise.all([first.loadForNode(), first.loadForNode()]);
  assert.match(a.node_id, /^ext_[0-9a-f-]{36}$/);
  assert.equal(b.node_id, a.node_id);
  assert.equal((await store(area).loadForNode()).node_id, a.node_id);
  assert.equal((await store(area).load()).node_id, a.node_id);
});

test('a shipped node id is used as it is', async () => {
  const settings = await store(new FakeStorage(), { ...SHIPPED, node_id: 'ext_001' }).loadForNode();
  assert.equal(settings.node_id, 'ext_001');
});

const settings = { server: 'wss://host', user_id: 'abc123', node_id: 'ext_001', token: '', node_name: '' };

test("the address is the protocol's", () => {
  assert.deepEqual(socketTarget(settings), {
    url: 'wss://host/ws/extension?client_id=user_abc123&node_id=ext_001',
    protocols: [],
  });
});

test('http addresses, paths and trailing slashes', () => {
  const at = (server) => socketTarget({ ...settings, server }).url.split('?')[0];
  assert.equal(at('https://host/'), 'wss://host/ws/extension');
  assert.equal(at('http://host:8080/zeus//'), 'ws://host:8080/zeus/ws/extension');
});

test('ids are opaque: whatever they hold arrives as it is', () => {
  const odd = { ...settings, user_id: 'a b&c=d/é', node_id: 'ä+%#?' };
  const query = new URL(socketTarget(odd).url).searchParams;
  assert.equal(query.get('client_id'), 'user_a b&c=d/é');
  assert.equal(query.get('node_id'), 'ä+%#?');
});

test('a token travels as a subprotocol', () => {
  assert.deepEqual(socketTarget({ ...settings, token: 'h.p.s' }).protocols, ['zeus', 'bearer.h.p.s']);
});

test('without server or user there is nowhere to go', () => {
  assert.equal(socketTarget({ ...settings, server: '' }), null);
  assert.equal(socketTarget({ ...settings, user_id: '' }), null);
});

test('every tool is described', () => {
  for (const tool of TOOLS) {
    const { name, title, description, inputSchema, annotations } = definition(tool);
    assert.ok(name && title && description && typeof annotations.readOnlyHint === 'boolean', name);
    for (const [argument, schema] of Object.entries(inputSchema.properties)) {
      assert.ok(schema.type && (schema.description || argument === 'text'), `${name}.${argument}`);
    }
  }
});

test("register has the protocol's fields", () => {
  const platform = { os: 'Linux', osVersion: '6.1', browser: 'Chromium', version: '1.0.0' };
  const click = {
    name: 'click',
    title: 'Click',
    description: 'Clicks an element.',
    readOnly: false,
    parameters: {
      selector: { type: 'string', required: true, nonEmpty: true, description: 'A CSS selector' },
      tabId: { type: 'integer' },
    },
  };
  assert.deepEqual(registerFrame(settings, platform, [click], 3), {
    type: 'register',
    node_id: 'ext_001',
    node_name: 'Chromium on Linux',
    node_type: 'extension',
    os: 'Linux',
    os_version: '6.1',
    app_version: '1.0.0',
    capabilities: ['browser_control', 'screenshot'],
    available_tools: ['click'],
    tools: [{
      name: 'click',
      title: 'Click',
      description: 'Clicks an element.',
      inputSchema: {
        type: 'object',
        properties: { selector: { type: 'string', minLength: 1, description: 'A CSS selector' }, tabId: { type: 'integer' } },
        additionalProperties: false,
        required: ['selector'],
      },
      annotations: { readOnlyHint: false, openWorldHint: true },
    }],
    max_concurrent_tasks: 3,
  });
});
