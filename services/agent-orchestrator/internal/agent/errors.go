package agent

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// publicMessage returns what users, and the model, may read of an error: a message that was written for them. Other errors
// may name addresses inside the cluster.
func publicMessage(err error) string {
	var reasoned *errs.Error
	if errors.As(err, &reasoned) {
		return reasoned.Message
	}
	return "internal error"
}
