package recurrence

import (
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// The kinds of repetition.
const (
	Once    = "none"
	Daily   = "daily"
	Weekly  = "weekly"
	Monthly = "monthly"
	Cron    = "cron"
)

// Kinds are all of them.
func Kinds() []string { return []string{Once, Daily, Weekly, Monthly, Cron} }

// Rule is what a user says about when a task fires.
type Rule struct {
	// Kind is one of the constants.
	Kind string
	// Time is the time of the day, HH:MM; Cron has none.
	Time string
	// Date is the day, YYYY-MM-DD, of Once; of the others the first day on which they may fire, or "".
	Date string
	// Weekdays are those of Weekly, 0 is Sunday. Where there is none, that of Date counts.
	Weekdays []int
	// Day is that of Monthly, 1 to 31; in a shorter month, its last day. 0: that of Date.
	Day int
	// Cron is a line of five fields.
	Cron string
	// Zone is the IANA name of the time zone.
	Zone string
}

// Schedule is a rule that was read. It is immutable.
type Schedule struct {
	zone  *time.Location
	first time.Time // by the clock of the zone (see wall); zero: no limit
	days  func(day time.Time) bool
	at    time.Duration // of the day
	once  bool
	cron  cron.Schedule // instead of days and at
}

// Parse reads a rule. Errors: [errs.ScheduleInvalid], naming the field.
func Parse(r Rule) (*Schedule, error) {
	s := &Schedule{}
	var err error
	if s.zone, err = zone(r.Zone); err != nil {
		return nil, err
	}
	if r.Date != "" {
		if s.first, err = time.Parse(time.DateOnly, r.Date); err != nil {
			return nil, errs.New(errs.ScheduleInvalid, "scheduled_date is %q, must be a day as YYYY-MM-DD", r.Date)
		}
	}
	if r.Kind == Cron {
		return s, s.parseCron(r)
	}
	if err := s.parseTime(r.Time); err != nil {
		return nil, err
	}
	if r.Cron != "" {
		return nil, errs.New(errs.ScheduleInvalid, "cron is for repeat_type %q only", Cron)
	}
	return s, s.parseDays(r)
}

func zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errs.New(errs.ScheduleInvalid, "timezone must be the name of a time zone, such as Europe/Berlin or UTC")
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, errs.New(errs.ScheduleInvalid, "timezone %q is unknown; it must be a name such as Europe/Berlin or UTC", name)
	}
	return loc, nil
}

func (s *Schedule) parseTime(text string) error {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return errs.New(errs.ScheduleInvalid, "scheduled_time is %q, must be a time of the day as HH:MM", text)
	}
	s.at = time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	return nil
}

func (s *Schedule) parseDays(r Rule) error {
	switch r.Kind {
	case Once:
		if s.first.IsZero() {
			return errs.New(errs.ScheduleInvalid, "repeat_type %q needs scheduled_date", Once)
		}
		s.once = true
		s.days = func(day time.Time) bool { return day.Equal(s.first) }
	case Daily:
		s.days = func(time.Time) bool { return true }
	case Weekly:
		return s.parseWeekdays(r.Weekdays)
	case Monthly:
		return s.parseDayOfMonth(r.Day)
	default:
		return errs.New(errs.ScheduleInvalid, "repeat_type is %q, must be one of %q", r.Kind, Kinds())
	}
	return nil
}

func (s *Schedule) parseWeekdays(weekdays []int) error {
	if len(weekdays) == 0 {
		if s.first.IsZero() {
			return errs.New(errs.ScheduleInvalid, "repeat_type %q needs weekdays: a list of 0, Sunday, to 6, Saturday", Weekly)
		}
		weekdays = []int{int(s.first.Weekday())}
	}
	for i, d := range weekdays {
		if d < 0 || d > 6 {
			return errs.New(errs.ScheduleInvalid, "weekdays[%d] is %d, must be 0, Sunday, to 6, Saturday", i, d)
		}
	}
	weekdays = slices.Clone(weekdays)
	s.days = func(day time.Time) bool { return slices.Contains(weekdays, int(day.Weekday())) }
	return nil
}

func (s *Schedule) parseDayOfMonth(wanted int) error {
	if wanted == 0 {
		if s.first.IsZero() {
			return errs.New(errs.ScheduleInvalid, "repeat_type %q needs day_of_month: 1 to 31", Monthly)
		}
		wanted = s.first.Day()
	}
	if wanted < 1 || wanted > 31 {
		return errs.New(errs.ScheduleInvalid, "day_of_month is %d, must be 1 to 31", wanted)
	}
	s.days = func(day time.Time) bool {
		last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		return day.Day() == min(wanted, last)
	}
	return nil
}

// fiveFields reads a line of cron without the extensions that name another zone or other times than five fields can.
var fiveFields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// longestCron bounds what is read.
const longestCron = 256

func (s *Schedule) parseCron(r Rule) error {
	if r.Time != "" {
		return errs.New(errs.ScheduleInvalid, "repeat_type %q has no scheduled_time: cron itself says the time", Cron)
	}
	if fields := strings.Fields(r.Cron); len(fields) != 5 || len(r.Cron) > longestCron || strings.Contains(r.Cron, "=") {
		return errs.New(errs.ScheduleInvalid, "cron must have five fields: minute, hour, day of the month, month, day of the week")
	}
	parsed, err := fiveFields.Parse(r.Cron)
	if err != nil {
		return errs.New(errs.ScheduleInvalid, "cron %q cannot be read: %v", r.Cron, err)
	}
	s.cron = parsed
	if parsed.Next(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() { // it looks five years ahead, so at a leap year, too
		return errs.New(errs.ScheduleInvalid, "cron %q never fires: there is no such day", r.Cron)
	}
	return nil
}
