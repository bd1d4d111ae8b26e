// Package embed makes vectors of texts: by any OpenAI-compatible API of embeddings, or by a small embedder of our own that needs no
// network.
//
// The offline embedder hashes words and their parts into 384 dimensions. It finds texts that share words, also in other forms and with
// typing errors. It knows no meaning: "car" and "automobile" are as far apart for it as any two words.
package embed
