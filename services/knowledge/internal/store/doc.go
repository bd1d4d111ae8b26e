// Package store keeps knowledge bases, their documents with the bytes that were uploaded, and the index of their chunks, in
// PostgreSQL or SQLite.
//
// The index has three parts, which one transaction changes together: chunks with their text, postings (how often a term is in a
// chunk) for keywords, and vectors. A document is in all of them or in none, and a document or base that is deleted is in none of
// them when the call returns.
//
// The table of documents is also the queue of work. A worker claims a document for some seconds and renews the claim; when it dies,
// the claim ends and another worker takes the document. Each claim has a token, and what a worker writes counts only under the
// token that is in force, so that a worker that was taken for dead changes nothing any more.
//
// Vectors are searched by pgvector's HNSW index where PostgreSQL has that extension, and one by one elsewhere: the answer is then
// exact, and takes longer the larger a base is.
package store
