package main

// replaced are words that identifiers once had and that a newcomer had to ask about, each with what to write instead. A word
// also stands for its plural.
var replaced = map[string]string{
	"foresee":  "expect, or the name of what is computed",
	"foreseen": "expected, or the name of what is computed",
	"glance":   "peek, or parse with the name of what is read",
	"glancing": "peek, or parse with the name of what is read",
	"haste":    "early, or speed up",
	"mortal":   "the name of what ends it, as in endsRun",
	"parcel":   "batch",
	"slam":     "close, or cut off",
	"stranger": "unauthenticated, other user, or foreign certificate",
	"world":    "fixture",
}

// protocols are names that a protocol gives, whatever their words.
var protocols = map[string]bool{
	"OpenWorldHint": true, // an annotation of tools in MCP
}
