// Package embedded runs Redis and NATS inside this process: what a cluster in one process stands on, and what tests use
// where nothing else is installed.
//
// NATS is the server itself, with its defaults. Redis is miniredis, with its clock driven: keys expire as time passes, up to
// 100 ms early. Both listen on TCP and keep nothing: closed and started again they are empty. Close waits until the port is
// free and every goroutine has ended.
package embedded

import "errors"

// ErrListen says that a server cannot have its address, most likely because another one has it.
var ErrListen = errors.New("cannot listen")
