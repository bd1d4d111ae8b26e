package catalogue

import "github.com/hecaton-dev/hecaton/pkg/errs"

// Unanswered is the end of a call that was not answered, for none of the reasons of package errs.
type Unanswered struct {
	Message string
	// Outcome is what may be assumed; another class than [errs.NotDelivered] and [errs.Unknown] says nothing.
	Outcome errs.Class
	// Reason is that of `_meta`; empty for none.
	Reason string
	// Meta are further members of `_meta`, without the braces.
	Meta []byte
}

func (u *Unanswered) Error() string { return u.Message }
