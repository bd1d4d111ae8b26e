// Package faults has scenarios in which parts of a cluster fail under load: Redis is emptied and stopped, NATS is
// restarted, pods are killed and cut off. Connected nodes keep their sockets, calls work again within seconds by
// themselves, and each call ends with a true outcome.
package faults
