// Package recurrence says when a scheduled task fires: once, daily, on days of the week or of the month, or as a line of cron says,
// by the clock of a time zone.
//
// A clock that is moved skips times and shows others twice. What a rule names and the clock skips fires at the instant of the
// jump; of what comes twice, the first counts. So a daily task fires once a day, each day.
package recurrence
