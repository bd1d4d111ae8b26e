// Package schedule tests scheduled tasks from outside, through pods that do not know of each other.
package schedule
