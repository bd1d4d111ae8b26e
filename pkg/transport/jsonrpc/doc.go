// Package jsonrpc reads and writes the JSON frames of nodes, and decodes only what is needed.
//
// [Skim] validates a frame and finds its top-level members in place, at the speed of memory: a result of 200 KiB is
// passed on as the bytes that came, never decoded and encoded again. What Skim accepts, encoding/json accepts too.
package jsonrpc
