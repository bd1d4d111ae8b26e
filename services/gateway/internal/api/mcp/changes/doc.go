// Package changes tells those who listen that the tools of a user may have changed: a device came, went, or offers other tools than
// before. A device that only says that it is busy changes nothing.
//
// The registry announces a change after it has stored it, so whoever lists the tools upon a notification, at any pod, sees the change.
// Changes that follow each other closely are told once. Where announcements may have been lost, because the bus was, everybody is
// told.
package changes
