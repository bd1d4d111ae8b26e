/** The tool ran and could not do it: answered as -32603 "Tool execution failed: ...", as seed 000 does. */
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
