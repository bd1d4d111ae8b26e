// Package tool is what an agent's tools have in common: what a model is told of one ([Spec]), how one runs ([Tool]), how it
// failed ([Failure]), where a set of them comes from ([Source]), and what they are called: by models ([ModelName]) and by
// people ([Label]). What becomes of a call is decided in package approval.
//
// The four layers are its sub-packages: builtin, mcp, oauth and connector (docs/protocols/zeus-agents.md#tool-layers).
package tool
