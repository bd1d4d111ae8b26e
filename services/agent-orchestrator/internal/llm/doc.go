// Package llm asks a language model behind an OpenAI-compatible endpoint and streams its answer.
//
// What the package promises:
//
//   - An answer is whole or an error: a stream that ends without a finish_reason is one that was cut.
//   - Pieces of parallel tool calls are merged by their index, however they are mixed.
//   - What fails before the first piece is tried again where that can help (429, 5xx, connection, stall): at most 3 times,
//     after 1, 2 and 4 s or what the endpoint asks, 8 s at most (facts, 4.2).
//   - Every error is an *[Error] with the code that clients know. Keys, prompts and answers are in no error and no log.
package llm
