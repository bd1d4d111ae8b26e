package seclude

import "golang.org/x/sys/unix"

// Memory keeps debuggers from this process. Other programs cannot read its memory anyway: the system allows that to root
// only.
func Memory() error { return unix.PtraceDenyAttach() }
