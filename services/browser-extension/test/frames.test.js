import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame, heartbeat, MAX_FRAME_BYTES, readFrame, resultFrame, unknownWorkflow } from '../lib/frames.js';

const read = (frame) => readFrame(JSON.stringify(frame));

test("a tools/call as the protocol has it", () => {
  const call = read({
    jsonrpc: '2.0',
    id: '550e8400-e29b-41d4-a716-446655440000',
    method: 'tools/call',
    params: { name: 'screenshot', arguments: { full_page: true }, session_id: 'sess_abc123' },
  });
  assert.deepEqual(call, {
    kind: 'call',
    id: '550e8400-e29b-41d4-a716-446655440000',
    name: 'screenshot',
    args: { full_page: true },
  });
});

test('a call without arguments has none', () => {
  const call = read({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list_tabs' } });
  assert.deepEqual(call, { kind: 'call', id: 7, name: 'list_tabs', args: {} });
});

test('calls that cannot be run say why', () => {
  const rpc = (method, params) => read({ jsonrpc: '2.0', id: 'c', method, params }).error;
  assert.equal(rpc('tools/list').code, -32601);
  assert.equal(rpc('tools/call').code, -32602);
  assert.match(rpc('tools/call', { arguments: {} }).message, /name/);
  assert.match(rpc('tools/call', { name: 'click', arguments: ['#a'] }).message, /arguments/);
  assert.match(rpc('tools/call', { name: 'click', arguments: null }).message, /arguments/);
});

test('cancellation names the call', () => {
  const cancel = read({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c', reason: 'timeout' } });
  assert.deepEqual(cancel, { kind: 'cancel', id: 'c' });
});

test('server frames', () => {
  assert.equal(read({ type: 'ping' }).kind, 'ping');
  assert.deepEqual(read({ type: 'registered', node_id: 'n', success: true }), { kind: 'registered', success: true, reason: '' });
  assert.equal(read({ type: 'registered', success: false, error: 'wrong type' }).reason, 'wrong type');
  assert.equal(read({ type: 'get_workflows' }).kind, 'get_workflows');
});

test('what is not understood is survived, and never answered', () => {
  const odd = [
    '', 'null', '[]', '[{"jsonrpc":"2.0"}]', '{', '"ping"', '17', '{"type":"new_kind"}', '{"type":{"a":1}}',
    '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","method":"tools/call"}',
    '{"jsonrpc":"2.0","id":null,"method":"tools/call"}', '{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"x"}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}', '['.repeat(100_000),
  ];
  for (const text of odd) assert.equal(readFrame(text).kind, 'other', text.slice(0, 60));
  assert.equal(readFrame(new ArrayBuffer(8)).kind, 'other');
  assert.equal(readFrame(undefined).kind, 'other');
});

test("heartbeat has the protocol's keys and no other", () => {
  assert.equal(encodeFrame(heartbeat('online', 0)), '{"type":"heartbeat","status":"online","current_tasks":0}');
});

test('a workflow that is asked for ends at once', () => {
  const frame = unknownWorkflow({ type: 'execute_workflow', workflow_id: 'wf_1', task_id: 't' });
  assert.deepEqual(frame, { type: 'task_complete', task_id: 't', workflow_id: 'wf_1', error: 'Unknown workflow: wf_1' });
});

test('a result that no frame holds becomes an error with the same id', () => {
  const result = (bytes) => resultFrame('big', { content: [{ type: 'text', text: 'x'.repeat(bytes) }] });
  const overhead = encodeFrame(result(0)).length;
  assert.equal(encodeFrame(result(MAX_FRAME_BYTES - overhead)).length, MAX_FRAME_BYTES);
  const refused = JSON.parse(encodeFrame(result(MAX_FRAME_BYTES - overhead + 1)));
  assert.equal(refused.id, 'big');
  assert.equal(refused.error.code, -32603);
  assert.match(refused.error.message, /10485761 bytes/);
});

test('the bound counts bytes, not characters', () => {
  const text = encodeFrame(resultFrame('u', { text: '€'.repeat(20) }), 80);
  assert.match(text, /error/);
});

test('only a response can become an error', () => {
  const frame = { type: 'register', node_name: 'x'.repeat(100) };
  assert.deepEqual(JSON.parse(encodeFrame(frame, 80)), frame);
});

test('the answer to a new token', () => {
  assert.deepEqual(read({ type: 'token_ack', success: true, expires_at: 1790000000 }), { kind: 'token_ack', success: true, reason: '' });
  assert.deepEqual(read({ type: 'token_ack', success: false, error: 'no' }), { kind: 'token_ack', success: false, reason: 'no' });
});
