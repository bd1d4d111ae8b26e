// Package toolname says which names nodes may give their tools.
//
// A name stands in lists, in questions to people and in what models are told, so it is one line of text, and short. Within
// these bounds it is taken as it is, to the byte: what a node calls a tool is what it is called by.
package toolname
