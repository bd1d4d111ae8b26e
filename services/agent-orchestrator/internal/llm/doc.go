// Package llm asks a language model behind an OpenAI-compatible endpoint and streams its answer.
//
// What the package promises:
//
//   - An answer is whole or an error: a stream that ends without a finish_reason was cut off. One that has it is whole
//     even if the endpoint never sends [DONE].
//   - Pieces of parallel tool calls are merged by their index, however they are mixed.
//   - A request that fails before the first piece is sent again if that can help (429, 5xx, connection, stall, cut off): at
//     most 3 times, after 1, 2 and 4 s or what the endpoint asks, 8 s at most
//     (docs/protocols/zeus-agents.md#errors-of-a-run). Once the caller has got a piece, trying again is the caller's decision.
//   - Every error is an *[Error] with the code that clients know, except errors of the context and of the caller. Keys,
//     prompts and answers are in no error and no log: of an endpoint's own error only codes from a
//     fixed list are repeated.
//   - Redirects are not followed: the key is for the endpoint that was named, and for no other.
//   - What an endpoint sends takes bounded memory: 4 MiB of text and arguments an answer, 1 MiB a line. An answer may take
//     any time, as long as the endpoint is never silent for a minute.
//
// Endpoints differ. The package also understands those that refuse stream_options, that leave out usage, ids, indices or the
// content type, that answer whole instead of streaming, or that send content in parts. A model's reasoning_content is
// dropped.
//
// go-openai builds and sends the requests. Its reader is not used: it loses a last line without a line break, holds an
// error back until another line comes, and reads lines of any length into memory.
package llm
