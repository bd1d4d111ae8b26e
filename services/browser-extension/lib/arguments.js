import { ArgumentError } from './errors.js';

/**
 * @typedef {object} ArgumentSpec
 * @property {'string'|'boolean'|'integer'} type
 * @property {boolean} [required]
 * @property {boolean} [nonEmpty] of a string
 * @property {string} [description] for the models that choose it
 */

const CHECKS = {
  string: { accepts: (value) => typeof value === 'string', says: 'must be a string' },
  boolean: { accepts: (value) => typeof value === 'boolean', says: 'must be true or false' },
  integer: { accepts: Number.isInteger, says: 'must be a whole number' },
};

/** The argument that every tool takes which works on a tab. */
export const TAB_ID = { type: 'integer', description: 'The tab, as list_tabs names it; the active one where this is left out' };

/**
 * Checks a call's arguments. Names that the tool does not know are refused: a misspelt tabId that went unnoticed would
 * send the tool to another tab.
 *
 * @param {Record<string, ArgumentSpec>} specs
 * @param {object} given
 * @returns {object} the known arguments that were given
 * @throws {ArgumentError} naming the first wrong one
 */
export function readArguments(specs, given) {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(specs, name)) throw new ArgumentError(name, 'is not an argument of this tool');
  }
  const values = {};
  for (const [name, spec] of Object.entries(specs)) {
    const value = given[name];
    if (value === undefined || value === null) {
      if (spec.required) throw new ArgumentError(name, 'is required');
      continue;
    }
    const check = CHECKS[spec.type];
    if (!check.accepts(value)) throw new ArgumentError(name, check.says);
    if (spec.nonEmpty && value === '') throw new ArgumentError(name, 'must not be empty');
    values[name] = value;
  }
  return values;
}
