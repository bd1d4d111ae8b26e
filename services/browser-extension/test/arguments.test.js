import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArguments, TAB_ID } from '../lib/arguments.js';
import { ArgumentError } from '../lib/errors.js';

const SPECS = {
  selector: { type: 'string', required: true, nonEmpty: true },
  text: { type: 'string' },
  submit: { type: 'boolean' },
  tabId: TAB_ID,
};

test('good arguments pass through', () => {
  const given = { selector: '#a', text: '', submit: false, tabId: 0 };
  assert.deepEqual(readArguments(SPECS, given), given);
});

test('null is absent', () => {
  assert.deepEqual(readArguments(SPECS, { selector: '#a', tabId: null }), { selector: '#a' });
});

const wrong = [
  ['selector', {}],
  ['selector', { selector: '' }],
  ['selector', { selector: 3 }],
  ['text', { selector: 'a', text: ['b'] }],
  ['submit', { selector: 'a', submit: 'yes' }],
  ['tabId', { selector: 'a', tabId: '5' }],
  ['tabId', { selector: 'a', tabId: 1.5 }],
  ['tab_id', { selector: 'a', tab_id: 5 }],
  ['toString', { selector: 'a', toString: 'x' }],
];
for (const [name, given] of wrong) {
  test(`${JSON.stringify(given)} is refused for ${name}`, () => {
    assert.throws(() => readArguments(SPECS, given), (error) => {
      assert.ok(error instanceof ArgumentError);
      assert.equal(error.argument, name);
      assert.ok(error.message.startsWith(name));
      return true;
    });
  });
}
