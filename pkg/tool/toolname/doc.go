// Package toolname says which names nodes may give their tools.
//
// A name appears in lists, in questions to people and in prompts, so it has to be one short line of text. Within these
// bounds it is used exactly as the node sent it.
package toolname
