package seclude

import "golang.org/x/sys/unix"

// Memory keeps debuggers from this process. What is not one cannot read it: the system gives a process's memory to root alone.
func Memory() error { return unix.PtraceDenyAttach() }
