// Package mail sends notifications by e-mail (docs/scheduled-tasks.md#mail).
package mail
