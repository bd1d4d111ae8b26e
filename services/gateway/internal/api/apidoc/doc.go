// Package apidoc describes the gateway's REST: /openapi.json for programs and /docs for people, both without
// authentication, since they hold no user's data.
//
// The description is OpenAPI 2.0, which is what comes from the protos, with a patch for what does not: streams, raw files,
// nodes, and the members whose form in JSON is not that of their protos.
package apidoc
