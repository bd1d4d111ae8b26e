// Package redisclient opens clients of Redis that fail soon, repeat nothing, and are silent.
package redisclient
