// Package redisclient opens Redis clients with short timeouts, without retries and without logs of their own.
package redisclient
