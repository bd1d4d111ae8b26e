/**
 * What the server and its models are told of a tool: a tool object of the Model Context Protocol
 * (docs/protocols/zeus-nodes.md#definitions-of-tools). Pure.
 *
 * @param {import('./calls.js').Tool} tool
 */
export function definition({ name, title, description, readOnly, parameters }) {
  const properties = {};
  const required = [];
  for (const [argument, spec] of Object.entries(parameters)) {
    properties[argument] = { type: spec.type };
    if (spec.nonEmpty) properties[argument].minLength = 1;
    if (spec.description) properties[argument].description = spec.description;
    if (spec.required) required.push(argument);
  }
  const inputSchema = { type: 'object', properties, additionalProperties: false };
  if (required.length > 0) inputSchema.required = required;
  return { name, title, description, inputSchema, annotations: { readOnlyHint: readOnly, openWorldHint: true } };
}
