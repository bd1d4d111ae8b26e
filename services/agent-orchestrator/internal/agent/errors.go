package agent

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
)

// publicMessage returns what users, and the model, may read of an error: a message that was written for them. Other errors
// may name addresses inside the cluster.
func publicMessage(err error) string {
	var call *errs.Error
	var refused *refusal.Error
	switch {
	case errors.As(err, &refused):
		return refused.Message
	case errors.As(err, &call):
		return call.Message
	}
	return "internal error"
}
