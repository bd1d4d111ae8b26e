/**
 * The frames of the Zeus WebSocket protocol (docs/protocols/zeus-nodes.md) as this extension reads and writes them. Pure: text
 * and objects in, text and objects out.
 */

/** The server cuts a connection that sends more than this in one frame (docs/protocols/zeus-nodes.md#malformed-frames). */
export const MAX_FRAME_BYTES = 10 * 1024 * 1024;

export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
/** The answer where a tool fails. */
export const TOOL_FAILED = -32603;

/**
 * @typedef {object} Incoming
 * @property {'call'|'bad_call'|'cancel'|'ping'|'registered'|'token_ack'|'get_workflows'|'execute_workflow'|'other'} kind
 * @property {string|number} [id] of a call
 * @property {string} [name] the tool of a call
 * @property {object} [args] the arguments of a call
 * @property {{code: number, message: string}} [error] what to answer to a bad call
 * @property {boolean} [success] of `registered` and `token_ack`
 * @property {string} [reason] of these without success
 * @property {object} [frame] the frame of a workflow request
 */

/**
 * Says what a frame from the server is. Never throws: whatever is not understood is `other`, and is survived.
 *
 * @param {unknown} data the data of a WebSocket message
 * @returns {Incoming}
 */
export function readFrame(data) {
  const frame = parseObject(data);
  if (!frame) return { kind: 'other' };
  if (frame.jsonrpc === '2.0') return readRPC(frame);
  switch (frame.type) {
    case 'ping':
    case 'get_workflows':
    case 'execute_workflow':
      return { kind: frame.type, frame };
    case 'registered':
    case 'token_ack':
      return { kind: frame.type, success: frame.success !== false, reason: String(frame.error ?? '') };
    default:
      return { kind: 'other' };
  }
}

function parseObject(data) {
  if (typeof data !== 'string') return null;
  try {
    const value = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function readRPC({ id, method, params }) {
  if (method === 'notifications/cancelled') {
    return isId(params?.requestId) ? { kind: 'cancel', id: params.requestId } : { kind: 'other' };
  }
  // A response, or a notification that means nothing here: neither may be answered.
  if (typeof method !== 'string' || !isId(id)) return { kind: 'other' };
  if (method !== 'tools/call') return badCall(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
  if (!isObject(params)) return badCall(id, INVALID_PARAMS, 'Invalid params: params must be an object');
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string' || name === '') return badCall(id, INVALID_PARAMS, 'Invalid params: name must be a tool name');
  if (!isObject(args)) return badCall(id, INVALID_PARAMS, 'Invalid params: arguments must be an object');
  return { kind: 'call', id, name, args };
}

function badCall(id, code, message) {
  return { kind: 'bad_call', id, error: { code, message } };
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isId = (value) => typeof value === 'string' || typeof value === 'number';

/** The heartbeat: docs/protocols/zeus-nodes.md#heartbeat. */
export const heartbeat = (status, currentTasks) => ({ type: 'heartbeat', status, current_tasks: currentTasks });

/** The answer to the server's `ping`. */
export const pong = () => ({ type: 'pong' });

/** Shows a new token, with which the connection outlives the one that it was opened with. */
export const newToken = (token) => ({ type: 'token', token });

/** A tool's result, as a JSON-RPC response. */
export const resultFrame = (id, result) => ({ jsonrpc: '2.0', id, result });

/** A JSON-RPC error response. */
export const errorFrame = (id, code, message) => ({ jsonrpc: '2.0', id, error: { code, message } });

/** This extension keeps no workflows; saying so spares the web client a wait (docs/protocols/zeus-nodes.md#workflows). */
export const noWorkflows = () => ({ type: 'workflows_list', success: true, workflows: [] });

/** The end of a workflow that this extension does not have. */
export const unknownWorkflow = (frame) => ({
  type: 'task_complete',
  task_id: frame.task_id ?? null,
  workflow_id: frame.workflow_id ?? null,
  error: `Unknown workflow: ${frame.workflow_id}`,
});

/**
 * The text of a frame. A response that would break the connection by its size becomes an error that says so.
 *
 * @param {object} frame
 * @param {number} [limit] bytes
 * @returns {string}
 */
export function encodeFrame(frame, limit = MAX_FRAME_BYTES) {
  const text = JSON.stringify(frame);
  // UTF-8 needs at most three bytes for a UTF-16 unit: most frames need no counting.
  if (text.length * 3 <= limit) return text;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= limit || frame.id === undefined) return text;
  return JSON.stringify(
    errorFrame(frame.id, TOOL_FAILED, `Tool execution failed: the result has ${bytes} bytes, a frame holds ${limit}`),
  );
}
