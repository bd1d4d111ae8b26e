package calls

import (
	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// notice is something to tell a sink. Sinks are told after the table's lock is given back.
type notice struct {
	e      *entry
	status Status // where not done
	done   bool
	answer *frame.Buffer
	err    *errs.Error
}

type notices []notice

func failed(e *entry, err *errs.Error) notices { return notices{{e: e, done: true, err: err}} }

func (ns notices) tell() {
	for _, n := range ns {
		switch {
		case n.done:
			n.e.sink.Done(n.answer, n.err)
		default:
			n.e.sink.Status(n.status)
		}
	}
}
