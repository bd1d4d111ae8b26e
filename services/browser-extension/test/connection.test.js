import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Connection } from '../lib/connection.js';
import { ANSWER_MS, CONNECT_TIMEOUT_MS, HEARTBEAT_MAX_MS, HEARTBEAT_MIN_MS } from '../lib/link.js';
import { controlTime, FakeRecord, FakeSocket, settle } from './fakes.js';

const TARGET = { url: 'ws://server/ws/extension', protocols: [], register: { type: 'register', node_id: 'n' } };

/** A connection under a controlled clock; random is 0.5, so the waits are 500 ms, 1 s, 2 s, ... */
function setUp(t, { holds = new FakeRecord(null), prepare = async () => TARGET, openSocket } = {}) {
  const elapse = controlTime(t);
  const it = { elapse, holds, sockets: [], states: [], frames: [], lost: 0 };
  it.connection = new Connection({
    prepare,
    openSocket: openSocket ?? ((url, protocols) => {
      const socket = new FakeSocket(url, protocols);
      it.sockets.push(socket);
      return socket;
    }),
    holds,
    load: () => ({ status: 'online', tasks: 0 }),
    onFrame: (frame, send) => it.frames.push({ frame, send }),
    onLost: () => { it.lost += 1; },
    onState: (state, text) => it.states.push(text ? `${state}: ${text}` : state),
    random: () => 0.5,
  });
  it.wake = async () => {
    await it.connection.wake();
    return it.sockets.at(-1);
  };
  it.connect = async () => {
    const socket = await it.wake();
    socket.opens();
    socket.receives({ type: 'registered', node_id: 'n', success: true });
    return socket;
  };
  return it;
}

test('it registers first thing, and is connected once the server says so', async (t) => {
  const it = setUp(t);
  const socket = await it.wake();
  assert.deepEqual(socket.sent, []);
  socket.opens();
  assert.deepEqual(socket.sent, [TARGET.register]);
  assert.deepEqual(it.states, ['connecting']);
  socket.receives({ type: 'registered', node_id: 'n', success: true });
  assert.deepEqual(it.states, ['connecting', 'connected']);
});

test('a refused registration is shown', async (t) => {
  const it = setUp(t);
  const socket = await it.wake();
  socket.opens();
  socket.receives({ type: 'registered', success: false, error: 'wrong type' });
  assert.equal(it.states.at(-1), 'connected: The server refused the registration: wrong type');
});

test('waking again and again makes one socket', async (t) => {
  const it = setUp(t);
  await Promise.all([it.wake(), it.wake(), it.wake()]);
  await it.wake();
  assert.equal(it.sockets.length, 1);
});

test("the server's ping is answered", async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  socket.receives('{"type":"ping"}');
  assert.deepEqual(socket.sent.at(-1), { type: 'pong' });
});

test('heartbeats come every 6 to 7 s', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  const beats = () => socket.sent.filter(({ type }) => type === 'heartbeat').length;
  const interval = (HEARTBEAT_MIN_MS + HEARTBEAT_MAX_MS) / 2;
  await it.elapse(interval - 1);
  assert.equal(beats(), 0);
  for (let n = 1; n <= 3; n += 1) {
    await it.elapse(1);
    assert.equal(beats(), n);
    socket.receives({ type: 'heartbeat_ack' });
    await it.elapse(ANSWER_MS);
    await it.elapse(interval - ANSWER_MS - 1);
    assert.equal(beats(), n);
  }
});

test('a server that hangs is left in less than 15 s, and tried again', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  await it.elapse(7_000);
  await it.elapse(6_500);
  await it.elapse(500);
  assert.equal(socket.closed, true);
  assert.equal(it.lost, 1);
  assert.equal(it.sockets.length, 2);
});

test('a large answer gets the time that a slow line needs for it', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  socket.receives({ type: 'ping' });
  it.frames.length = 0;
  socket.receives({ jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'click', arguments: {} } });
  it.frames[0].send({ jsonrpc: '2.0', id: 'x', result: { content: [{ type: 'text', text: 'x'.repeat(5_000_000) }] } });
  const written = JSON.stringify(socket.sent.at(-1)).length;
  assert.ok(written > 4_000_000);
  await it.elapse(7_000);
  await it.elapse(written / 175 - 7_000);
  assert.equal(socket.closed, false);
  await it.elapse(ANSWER_MS + 1_000);
  assert.equal(socket.closed, true);
});

test('sleep is no silence', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  await it.elapse(7_000); // a heartbeat is on its way
  mock.timers.setTime(Date.now() + 3_600_000); // timers stand still
  await it.elapse(ANSWER_MS);
  assert.equal(socket.closed, false);
  assert.equal(socket.sent.filter(({ type }) => type === 'heartbeat').length, 2);
  await it.elapse(ANSWER_MS);
  assert.equal(socket.closed, true);
});

test('a server that answers is not silent', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  for (let waited = 0; waited <= 300_000; waited += 5_000) {
    await it.elapse(5_000);
    socket.receives({ type: 'heartbeat_ack' });
  }
  assert.equal(it.sockets.length, 1);
  assert.equal(it.lost, 0);
});

test('a server that does not open the socket is given up', async (t) => {
  const it = setUp(t);
  const socket = await it.wake();
  await it.elapse(CONNECT_TIMEOUT_MS);
  assert.equal(socket.closed, true);
  await it.elapse(500);
  assert.equal(it.sockets.length, 2);
});

test('waits double while the server is away and begin anew after a good link', async (t) => {
  const it = setUp(t);
  const waits = async (expected) => {
    const before = it.sockets.length;
    it.sockets.at(-1).closes(1006);
    await it.elapse(expected - 1);
    assert.equal(it.sockets.length, before, 'too early');
    await it.elapse(1);
    assert.equal(it.sockets.length, before + 1, 'too late');
  };
  await it.wake();
  await waits(500);
  await waits(1_000);
  await waits(2_000);
  // Opened, but for too short a time to trust it.
  it.sockets.at(-1).opens();
  await waits(4_000);
  it.sockets.at(-1).opens();
  await it.elapse(10_000);
  await waits(500);
});

for (const code of [1000, 1001, 1006, 1009, 1012, 4008, 4999]) {
  test(`after close ${code} it comes back by itself`, async (t) => {
    const it = setUp(t);
    (await it.connect()).closes(code);
    assert.equal(it.lost, 1);
    await it.elapse(500);
    assert.equal(it.sockets.length, 2);
  });
}

for (const code of [4001, 4003, 4409]) {
  test(`after close ${code} it stays away until the user acts`, async (t) => {
    const it = setUp(t);
    (await it.connect()).closes(code, 'no');
    await it.elapse(3_600_000);
    await it.wake();
    assert.equal(it.sockets.length, 1);
    assert.match(it.states.at(-1), /^stopped: /);
    await it.connection.restart();
    assert.equal(it.sockets.length, 2);
    assert.equal(it.holds.value, null);
  });

  test(`a worker that starts anew after close ${code} stays away, too`, async (t) => {
    const holds = new FakeRecord({ until: null, text: `closed with ${code}` });
    const it = setUp(t, { holds });
    await it.wake();
    assert.equal(it.sockets.length, 0);
    assert.deepEqual(it.states, [`stopped: closed with ${code}`]);
  });
}

for (const [code, wait] of [[4009, 60_500], [1013, 5_500]]) {
  test(`after close ${code} it waits longer`, async (t) => {
    const it = setUp(t);
    (await it.connect()).closes(code);
    assert.equal(it.holds.value.until, Date.now() + wait, 'kept for a worker that starts anew');
    await it.elapse(wait - 1);
    await it.wake();
    assert.equal(it.sockets.length, 1);
    await it.elapse(1);
    assert.equal(it.sockets.length, 2);
  });
}

test('a worker that starts anew in the middle of a long wait waits on', async (t) => {
  const holds = new FakeRecord({ until: 1_000_000 + 40_000, text: 'too many nodes' });
  const it = setUp(t, { holds });
  await it.wake();
  await it.elapse(39_999);
  assert.equal(it.sockets.length, 0);
  await it.elapse(1);
  assert.equal(it.sockets.length, 1);
});

test('events of a socket that was left change nothing', async (t) => {
  const it = setUp(t);
  const old = await it.connect();
  await it.connection.restart();
  assert.equal(it.sockets.length, 2);
  assert.equal(it.lost, 1);
  old.closes(4409, 'superseded');
  old.receives({ type: 'ping' });
  old.receives({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'click' } });
  assert.deepEqual(it.frames, []);
  await it.elapse(60_000 - 1);
  assert.equal(it.sockets.at(-1).closed, true, 'the second socket never opened, so it was given up');
  assert.equal(it.holds.value, null);
});

test('an answer goes to the socket that asked, or nowhere', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  socket.receives({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'click', arguments: {} } });
  const [{ frame, send }] = it.frames;
  assert.equal(frame.kind, 'call');
  socket.closes(1012);
  await it.elapse(500);
  const next = it.sockets.at(-1);
  next.opens();
  send({ jsonrpc: '2.0', id: 'a', result: {} });
  assert.deepEqual(next.sent, [TARGET.register]);
});

test('without settings it asks for them, and connects when they are there', async (t) => {
  let target = null;
  const it = setUp(t, { prepare: async () => target });
  await it.wake();
  assert.match(it.states[0], /^unconfigured: /);
  target = TARGET;
  await it.connection.restart();
  assert.equal(it.sockets.length, 1);
});

test('an address that no socket takes stops it with the reason', async (t) => {
  const it = setUp(t, { openSocket: () => { throw new SyntaxError('bad url'); } });
  await it.connection.wake();
  assert.deepEqual(it.states, ['stopped: Cannot connect: bad url']);
});

test('a restart forgets the waits and the failures before it', async (t) => {
  const it = setUp(t);
  await it.wake();
  for (const wait of [500, 1_000, 2_000]) {
    it.sockets.at(-1).closes(1006);
    await it.elapse(wait);
  }
  it.sockets.at(-1).closes(1006); // and would come back in 4 s
  await it.elapse(3_900);
  await it.connection.restart();
  const restarted = it.sockets.length;
  it.sockets.at(-1).closes(1006);
  await it.elapse(499);
  assert.equal(it.sockets.length, restarted);
  await it.elapse(1);
  assert.equal(it.sockets.length, restarted + 1);
});

test('a restart overtakes an attempt that is being prepared', async (t) => {
  const waiting = [];
  const it = setUp(t, { prepare: () => new Promise((resolve) => { waiting.push(resolve); }) });
  it.connection.wake();
  await settle();
  it.connection.restart();
  await settle();
  assert.equal(waiting.length, 2);
  waiting[0](TARGET);
  await settle();
  assert.equal(it.sockets.length, 0);
  waiting[1](TARGET);
  await settle();
  assert.equal(it.sockets.length, 1);
});

test('a new token is shown on the link that there is', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  await it.connection.renew('new');
  assert.deepEqual(socket.sent.at(-1), { type: 'token', token: 'new' });
  socket.receives({ type: 'token_ack', success: true, expires_at: 1790000000 });
  assert.equal(it.states.at(-1), 'connected');
  assert.equal(it.sockets.length, 1);
  assert.equal(it.lost, 0);
  assert.deepEqual(it.frames, []);
});

test('a new token that is refused is told to the user, and the link goes on', async (t) => {
  const it = setUp(t);
  const socket = await it.connect();
  await it.connection.renew('new');
  socket.receives({ type: 'token_ack', success: false, error: 'the token has expired' });
  assert.equal(it.states.at(-1), 'connected: The server refused the new token: the token has expired');
  assert.equal(socket.closed, false);
});

test('a new token connects anew where there is no link to show it on', async (t) => {
  const it = setUp(t, { holds: new FakeRecord({ until: null, text: 'the token has expired' }) });
  await it.wake();
  assert.equal(it.sockets.length, 0);
  await it.connection.renew('new');
  assert.equal(it.sockets.length, 1);
  await it.connection.renew('newer'); // it is not registered yet: it was opened with the old one
  assert.equal(it.sockets.length, 2);
  assert.equal(it.sockets[0].closed, true);
  it.sockets[1].opens();
  it.sockets[1].receives({ type: 'registered', node_id: 'n', success: true });
  await it.connection.renew(''); // the server trusts user ids from now on
  assert.equal(it.sockets.length, 3);
});
