// Package chunk cuts the sections of a document into chunks: what is embedded, found and shown as one passage.
//
// A chunk has about 1,000 characters and at most 1,500, is on one page and beneath one heading, and ends where a paragraph, a row of a
// table or a declaration ends. Only where a single paragraph is longer than a chunk may be is it cut, at the end of a sentence or
// word; then each piece begins with the last 150 characters of the one before. A chunk of a table begins with the table's header.
package chunk
