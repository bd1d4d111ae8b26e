// Package zeus holds the scenarios of seed 000 over real pods: what a client of the Zeus protocol sees, to the byte.
package zeus
