// Package terms makes the terms of the keyword index from text, and from queries in the same way: words as Unicode parts them
// (UAX #29), in lower case and in the form NFKC, English ones as their Porter2 stem, Chinese ones as a dictionary parts them. No word is
// left out as too common.
package terms
