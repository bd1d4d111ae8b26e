package mcp

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// Members of `_meta` that are ours.
const (
	// MetaReason and MetaOutcome say of a call that was not answered why, and what may be assumed.
	MetaReason  = "dev.hecaton/reason"
	MetaOutcome = "dev.hecaton/outcome"
	// MetaTimeout says how long a call may take, in milliseconds.
	MetaTimeout = "dev.hecaton/timeout-ms"
)

// internal answers a request that failed for no fault of the client's. Details of what is not meant for clients stay here.
func internal(err error) *wire.Error {
	message := "Internal error"
	var reasoned *errs.Error
	if errors.As(err, &reasoned) {
		message = string(reasoned.Reason) + ": " + reasoned.Message
	}
	return &wire.Error{Code: jsonrpc.CodeInternalError, Message: message, Status: 200}
}

// toolError is the result of a call that failed, in words that a model can act on.
func toolError(text, meta string) catalogue.Result {
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), text)
	return catalogue.Result{Members: [][]byte{append(b, `}],"isError":true`...)}, Meta: []byte(meta)}
}

// failure is the result of a call that was not answered.
func failure(err error) catalogue.Result {
	var reasoned *errs.Error
	if !errors.As(err, &reasoned) {
		return toolError(edge.NewProblem(err, nil).Error, "")
	}
	text := reasoned.Message
	meta := `"` + MetaReason + `":"` + string(reasoned.Reason) + `"`
	switch class := reasoned.Class(); class {
	case errs.NotDelivered:
		text += ". The tool did not run; it is safe to call it again."
		meta += `,"` + MetaOutcome + `":"` + string(class) + `"`
	case errs.Unknown:
		text += ". The tool may have run: check what it has done before you call it again."
		meta += `,"` + MetaOutcome + `":"` + string(class) + `"`
	}
	return toolError(text, meta)
}

// resultMeta is an empty result with these members in its `_meta`.
func resultMeta(members string) catalogue.Result { return catalogue.Result{Meta: []byte(members)} }
