import { mock } from 'node:test';

/** A WebSocket whose other end is the test. */
export class FakeSocket {
  sent = [];
  closed = false;

  constructor(url, protocols) {
    this.url = url;
    this.protocols = protocols;
  }

  send(text) {
    if (this.closed) throw new Error('send on a closed socket');
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.closed = true;
  }

  opens() {
    this.onopen();
  }

  receives(frame) {
    this.onmessage?.({ data: typeof frame === 'string' ? frame : JSON.stringify(frame) });
  }

  closes(code, reason = '') {
    this.onclose?.({ code, reason });
  }
}

/** chrome.storage areas and session records, in memory. */
export class FakeStorage {
  values = {};

  async get(keys) {
    return Object.fromEntries(keys.filter((key) => key in this.values).map((key) => [key, structuredClone(this.values[key])]));
  }

  async set(values) {
    Object.assign(this.values, structuredClone(values));
  }
}

export class FakeRecord {
  constructor(value) {
    this.value = value;
  }

  async load() {
    return structuredClone(this.value);
  }

  async save(value) {
    this.value = structuredClone(value);
  }
}

/** Runs what promises have made ready. */
export async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** Puts timers and the clock under the test's control until the test ends. */
export function controlTime(t) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  return async (ms) => {
    mock.timers.tick(ms);
    await settle();
  };
}

/** A promise that the test settles. */
export function deferred() {
  const it = {};
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }));
  return it;
}
