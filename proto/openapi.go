// Package proto holds what is generated from the protos besides Go code.
package proto

import _ "embed" // for OpenAPI

// OpenAPI is the OpenAPI 2.0 description of the REST that comes from the protos.
//
//go:embed gen/openapi/hecaton.swagger.json
var OpenAPI []byte
