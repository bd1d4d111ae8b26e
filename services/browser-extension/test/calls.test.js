import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilAborted } from '../lib/abort.js';
import { Calls } from '../lib/calls.js';
import { ToolError } from '../lib/errors.js';
import { SeenCalls } from '../lib/seen_calls.js';
import { deferred, FakeRecord, settle } from './fakes.js';

/** A tool that runs until the test lets it go; `started` lists the names it was called with. */
function gatedTool() {
  const gates = new Map();
  const started = [];
  return {
    started,
    finish: (name) => gates.get(name).resolve(),
    name: 'wait',
    parameters: { name: { type: 'string', required: true } },
    async run({ name }, signal) {
      started.push(name);
      gates.set(name, deferred());
      await untilAborted(gates.get(name).promise, signal);
      return { content: [{ type: 'text', text: name }], isError: false };
    },
  };
}

function setUp({ tools = [gatedTool()], limit = 3, record = new FakeRecord([]) } = {}) {
  const calls = new Calls(tools, new SeenCalls(record), limit);
  const answers = [];
  const call = (id, args = { name: id }, name = 'wait') => {
    calls.handle({ id, name, args }, (frame) => answers.push(frame));
    return settle();
  };
  return { calls, call, answers, tool: tools[0] };
}

test('a call is answered with its result', async () => {
  const { call, answers, tool } = setUp();
  await call('a');
  tool.finish('a');
  await settle();
  assert.deepEqual(answers, [{ jsonrpc: '2.0', id: 'a', result: { content: [{ type: 'text', text: 'a' }], isError: false } }]);
});

test('unknown tools and wrong arguments do not run', async () => {
  const { call, answers, tool } = setUp();
  await call('a', {}, 'fly');
  await call('b', { nmae: 'b' });
  assert.deepEqual(answers.map(({ id, error }) => [id, error.code]), [['a', -32601], ['b', -32602]]);
  assert.match(answers[1].error.message, /nmae/);
  assert.deepEqual(tool.started, []);
});

test("a tool's failure reads as the protocol's", async () => {
  const tool = { name: 'wait', parameters: {}, run: async () => { throw new ToolError('element not found'); } };
  const { call, answers } = setUp({ tools: [tool] });
  await call('a', {});
  assert.deepEqual(answers[0].error, { code: -32603, message: 'Tool execution failed: element not found' });
});

test('a defect in a tool is answered, too', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  const tool = { name: 'wait', parameters: {}, run: async () => { throw new TypeError('x is undefined'); } };
  const { call, answers } = setUp({ tools: [tool] });
  await call('a', {});
  assert.equal(answers[0].error.code, -32603);
  assert.equal(logged.mock.callCount(), 1);
});

test('an id that is still running runs once and is answered once', async () => {
  const { call, answers, tool } = setUp();
  await Promise.all([call('a'), call('a')]);
  tool.finish('a');
  await settle();
  assert.deepEqual(tool.started, ['a']);
  assert.equal(answers.length, 1);
});

test('an id that has run is refused', async () => {
  const { call, answers, tool } = setUp();
  await call('a');
  tool.finish('a');
  await settle();
  await call('a');
  assert.deepEqual(tool.started, ['a']);
  assert.equal(answers[1].error.code, -32600);
});

test('an id that ran before the worker slept is refused', async () => {
  const record = new FakeRecord([]);
  await setUp({ record }).call('a');
  const { call, answers, tool } = setUp({ record });
  await call('a');
  assert.deepEqual(tool.started, []);
  assert.equal(answers[0].error.code, -32600);
});

test('of two that come at the same time, one is new', async () => {
  const seen = new SeenCalls(new FakeRecord([]));
  assert.deepEqual(await Promise.all([seen.add('a'), seen.add('a')]), [true, false]);
});

test('ids are remembered up to the limit, the oldest goes first', async () => {
  const record = new FakeRecord([]);
  const seen = new SeenCalls(record, 2);
  for (const id of ['a', 'b', 'c']) assert.equal(await seen.add(id), true);
  assert.deepEqual(record.value, ['b', 'c']);
  assert.deepEqual([await seen.add('b'), await seen.add('c'), await seen.add('a')], [false, false, true]);
});

test('no more run at once than the limit; the rest follow in order', async () => {
  const { calls, call, tool } = setUp({ limit: 2 });
  for (const id of ['a', 'b', 'c', 'd']) await call(id);
  assert.deepEqual(tool.started, ['a', 'b']);
  assert.deepEqual(calls.load(), { status: 'busy', tasks: 2 });
  tool.finish('b');
  await settle();
  tool.finish('a');
  await settle();
  assert.deepEqual(tool.started, ['a', 'b', 'c', 'd']);
  await call('e');
  assert.deepEqual(tool.started, ['a', 'b', 'c', 'd']);
});

test('a running call is cancelled', async () => {
  const { calls, call, answers } = setUp();
  await call('a');
  calls.cancel('a');
  await settle();
  assert.deepEqual(answers, [{ jsonrpc: '2.0', id: 'a', error: { code: -32603, message: 'Tool execution failed: cancelled' } }]);
  assert.deepEqual(calls.load(), { status: 'online', tasks: 0 });
});

test('a waiting call is cancelled without running, and its place is taken by the next', async () => {
  const { calls, call, answers, tool } = setUp({ limit: 1 });
  for (const id of ['a', 'b', 'c']) await call(id);
  calls.cancel('b');
  await settle();
  assert.equal(answers[0].id, 'b');
  tool.finish('a');
  await settle();
  assert.deepEqual(tool.started, ['a', 'c']);
});

test('a call that has waited is cancelled while it runs, and only that one', async () => {
  const { calls, call, answers, tool } = setUp({ limit: 1 });
  for (const id of ['a', 'b', 'c']) await call(id);
  tool.finish('a');
  await settle();
  calls.cancel('b');
  await settle();
  assert.deepEqual(answers.map(({ id }) => id), ['a', 'b']);
  assert.deepEqual(tool.started, ['a', 'b', 'c']);
});

test('a call that is cancelled at once never runs', async () => {
  const { calls, call, answers, tool } = setUp();
  const called = call('a');
  calls.cancel('a');
  await called;
  assert.deepEqual(tool.started, []);
  assert.match(answers[0].error.message, /cancelled/);
});

test('nothing is waited for after a cancellation', async () => {
  const never = new Promise(() => {});
  await assert.rejects(untilAborted(never, AbortSignal.abort()), ToolError);
  assert.equal(await untilAborted(Promise.resolve('done'), new AbortController().signal), 'done');
});

test('a lost connection stops every call, running or waiting', async () => {
  const { calls, call, answers, tool } = setUp({ limit: 1 });
  for (const id of ['a', 'b']) await call(id);
  calls.cancelAll();
  await settle();
  assert.deepEqual(tool.started, ['a']);
  assert.deepEqual(answers.map(({ id }) => id).sort(), ['a', 'b']);
  await call('c');
  assert.deepEqual(tool.started, ['a', 'c']);
});

test('cancelling what is not there does nothing', () => {
  setUp().calls.cancel('nobody');
});

test('calls beyond the queue are turned away at once', async () => {
  const { call, answers } = setUp({ limit: 1 });
  for (let n = 0; n < 66; n += 1) await call(`c${n}`);
  assert.deepEqual(answers.map(({ id, error }) => [id, error.message]), [
    ['c65', 'Tool execution failed: too many calls are waiting'],
  ]);
});
