import { readArguments } from './arguments.js';
import { ArgumentError, ToolError } from './errors.js';
import { errorFrame, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, resultFrame, TOOL_FAILED } from './frames.js';
import { Slots } from './slots.js';

/** As many calls wait here as the server lets wait for one node; it sends no more than it was told at registration. */
const MAX_WAITING = 64;

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} title for people
 * @property {string} description for models
 * @property {boolean} readOnly whether it changes nothing
 * @property {Record<string, import('./arguments.js').ArgumentSpec>} parameters
 * @property {(args: object, signal: AbortSignal) => Promise<object>} run returns the JSON-RPC result
 */

/** Runs tools/call requests: each id once, at most so many at the same time, each until it is cancelled. */
export class Calls {
  // Static after construction.
  #tools;
  #seen;
  #limit;
  #slots;

  // The calls not yet answered, by id.
  #active = new Map();

  /**
   * @param {Tool[]} tools
   * @param {{add(id: string|number): Promise<boolean>}} seen
   * @param {number} limit max_concurrent_tasks
   */
  constructor(tools, seen, limit) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#seen = seen;
    this.#limit = limit;
    this.#slots = new Slots(limit, MAX_WAITING);
  }

  /** @returns {{status: 'online'|'busy', tasks: number}} for heartbeats; tasks counts running calls only */
  load() {
    const tasks = Math.min(this.#active.size, this.#limit);
    return { status: tasks === this.#limit ? 'busy' : 'online', tasks };
  }

  /**
   * Runs one call and answers it. A repetition of a call that still runs is not answered: the call's own answer is.
   *
   * @param {{id: string|number, name: string, args: object}} call
   * @param {(frame: object) => void} send
   */
  async handle({ id, name, args }, send) {
    if (this.#active.has(id)) return;
    const controller = new AbortController();
    this.#active.set(id, controller);
    try {
      send(await this.#answer(id, name, args, controller.signal));
    } finally {
      this.#active.delete(id);
    }
  }

  /** Stops a call, where its tool can stop; it is answered as failed. Unknown ids are ignored. */
  cancel(id) {
    this.#active.get(id)?.abort();
  }

  /** Stops every call. */
  cancelAll() {
    for (const controller of this.#active.values()) controller.abort();
  }

  async #answer(id, name, args, signal) {
    try {
      const tool = this.#tools.get(name);
      if (!tool) return errorFrame(id, METHOD_NOT_FOUND, `Unknown tool: ${name}`);
      const values = readArguments(tool.parameters, args);
      if (!(await this.#seen.add(id))) return errorFrame(id, INVALID_REQUEST, 'This call id was executed before');
      return resultFrame(id, await this.#slots.run(signal, () => tool.run(values, signal)));
    } catch (error) {
      return this.#failure(id, error);
    }
  }

  #failure(id, error) {
    if (error instanceof ArgumentError) return errorFrame(id, INVALID_PARAMS, `Invalid argument: ${error.message}`);
    if (!(error instanceof ToolError)) console.error('tool failed', error);
    return errorFrame(id, TOOL_FAILED, `Tool execution failed: ${error.message}`);
  }
}
