/** The tool ran and failed: answered with -32603 "Tool execution failed: ..." (docs/protocols/zeus-nodes.md#results). */
export class ToolError extends Error {}

/** An argument is missing or wrong: answered as -32602 with the argument's name. The tool has done nothing. */
export class ArgumentError extends Error {
  /**
   * @param {string} argument its name
   * @param {string} problem continues a sentence that begins with the name
   */
  constructor(argument, problem) {
    super(`${argument} ${problem}`);
    this.argument = argument;
  }
}
