// Package modeltest is a language model that says what a test wants said: an OpenAI-compatible endpoint on loopback with
// a script, also for programs under test that are processes of their own.
//
// Answers are taken from a queue, one per request, in the order in which requests come. A test with several sessions
// gives each a queue of its own with [Server.When]. A request for which nothing is left fails the test, unless
// [Server.Otherwise] says what to answer.
//
// What an answer does wrong is part of it: statuses, cut and stalled streams, bytes that are no stream at all. Nothing
// waits for a clock: a stream is held by a channel of the test ([Answer.Wait]), or until its client leaves
// ([Answer.Stall]).
//
// Every request is recorded, with its headers.
package modeltest
