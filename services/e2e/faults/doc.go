// Package faults holds the bad days: Redis emptied and stopped, NATS restarted, pods killed and cut off, under calls that
// go on meanwhile. Connected nodes keep their sockets, calls work again within seconds without anyone's help, and every
// call ends with something true.
package faults
