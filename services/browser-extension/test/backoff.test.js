import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '../lib/backoff.js';

test('the window doubles up to the cap', () => {
  const backoff = new Backoff({ baseMs: 1_000, capMs: 30_000, random: () => 0.999999 });
  const waits = Array.from({ length: 8 }, () => backoff.next());
  assert.deepEqual(waits, [999, 1_999, 3_999, 7_999, 15_999, 29_999, 29_999, 29_999]);
});

test('waits are spread over the whole window, down to none', () => {
  const at = (random) => new Backoff({ baseMs: 1_000, random: () => random }).next();
  assert.deepEqual([at(0), at(0.25), at(0.5)], [0, 250, 500]);
});

test('drawn waits stay in the window', () => {
  const backoff = new Backoff();
  for (let failures = 0; failures < 2_000; failures += 1) {
    const wait = backoff.next();
    assert.ok(Number.isInteger(wait) && wait >= 0 && wait < Math.min(30_000, 1_000 * 2 ** failures), `${wait}`);
  }
});

test('reset begins again with the first window', () => {
  const backoff = new Backoff({ random: () => 0.5 });
  backoff.next();
  backoff.next();
  backoff.reset();
  assert.equal(backoff.next(), 500);
});
