package agent

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
)

// said is what users, and the model, are told of an error: what was written for people. Other errors may name addresses
// inside the cluster.
func said(err error) string {
	var call *errs.Error
	var no *refusal.Error
	switch {
	case errors.As(err, &no):
		return no.Message
	case errors.As(err, &call):
		return call.Message
	}
	return "internal error"
}
