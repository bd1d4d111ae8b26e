package recurrence_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/schedule/recurrence"
)

func parse(t *testing.T, r recurrence.Rule) *recurrence.Schedule {
	t.Helper()
	s, err := recurrence.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNext(t *testing.T) {
	t.Parallel()
	daily := func(clock, zone string) recurrence.Rule {
		return recurrence.Rule{Kind: recurrence.Daily, Time: clock, Zone: zone}
	}
	for name, c := range map[string]struct {
		rule  recurrence.Rule
		after string
		want  string // the next ones, separated by spaces; "-" that there is none any more
	}{
		"daily":                      {daily("09:00", "UTC"), "2026-11-22T09:00:00Z", "2026-11-23T09:00:00Z 2026-11-24T09:00:00Z"},
		"daily, later today":         {daily("09:00", "Asia/Shanghai"), "2026-11-22T00:59:59Z", "2026-11-22T01:00:00Z"},
		"the clock skips it":         {daily("02:30", "Europe/Berlin"), "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		"the clock shows it twice":   {daily("02:30", "Europe/Berlin"), "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		"asked within the second":    {daily("02:30", "Europe/Berlin"), "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z"},
		"a jump of half an hour":     {daily("02:15", "Australia/Lord_Howe"), "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
		"a jump at midnight":         {daily("00:00", "America/Santiago"), "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z 2026-09-07T03:00:00Z"},
		"a day that was skipped":     {daily("12:00", "Pacific/Apia"), "2011-12-29T23:00:00Z", "2011-12-30T10:00:00Z 2011-12-30T22:00:00Z"},
		"daily from a day on":        {recurrence.Rule{Kind: recurrence.Daily, Time: "00:00", Date: "2027-01-10", Zone: "UTC"}, "2026-11-22T00:00:00Z", "2027-01-10T00:00:00Z 2027-01-11T00:00:00Z"},
		"once":                       {recurrence.Rule{Kind: recurrence.Once, Date: "2026-12-24", Time: "18:00", Zone: "Europe/Berlin"}, "2026-11-22T00:00:00Z", "2026-12-24T17:00:00Z -"},
		"once, over":                 {recurrence.Rule{Kind: recurrence.Once, Date: "2026-01-01", Time: "18:00", Zone: "UTC"}, "2026-11-22T00:00:00Z", "-"},
		"weekly":                     {recurrence.Rule{Kind: recurrence.Weekly, Time: "09:00", Weekdays: []int{1, 0}, Zone: "UTC"}, "2026-11-20T00:00:00Z", "2026-11-22T09:00:00Z 2026-11-23T09:00:00Z 2026-11-29T09:00:00Z"},
		"weekly, as the first day":   {recurrence.Rule{Kind: recurrence.Weekly, Time: "09:00", Date: "2026-11-25", Zone: "UTC"}, "2026-11-20T00:00:00Z", "2026-11-25T09:00:00Z 2026-12-02T09:00:00Z"},
		"the zone's weekday":         {recurrence.Rule{Kind: recurrence.Weekly, Time: "01:00", Weekdays: []int{1}, Zone: "Asia/Tokyo"}, "2026-11-20T00:00:00Z", "2026-11-22T16:00:00Z"},
		"monthly":                    {recurrence.Rule{Kind: recurrence.Monthly, Time: "08:00", Day: 31, Zone: "UTC"}, "2027-01-31T08:00:00Z", "2027-02-28T08:00:00Z 2027-03-31T08:00:00Z 2027-04-30T08:00:00Z"},
		"monthly, in a leap year":    {recurrence.Rule{Kind: recurrence.Monthly, Time: "08:00", Day: 30, Zone: "UTC"}, "2028-02-01T00:00:00Z", "2028-02-29T08:00:00Z"},
		"cron":                       {recurrence.Rule{Kind: recurrence.Cron, Cron: "*/20 9-10 * * 1-5", Zone: "UTC"}, "2026-11-20T10:20:00Z", "2026-11-20T10:40:00Z 2026-11-23T09:00:00Z"},
		"cron, either day":           {recurrence.Rule{Kind: recurrence.Cron, Cron: "0 12 13 * 5", Zone: "UTC"}, "2026-12-04T12:00:00Z", "2026-12-11T12:00:00Z 2026-12-13T12:00:00Z"},
		"cron in the hour skipped":   {recurrence.Rule{Kind: recurrence.Cron, Cron: "*/30 * * * *", Zone: "Europe/Berlin"}, "2026-03-29T00:00:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"},
		"cron in the hour of two":    {recurrence.Rule{Kind: recurrence.Cron, Cron: "*/30 * * * *", Zone: "Europe/Berlin"}, "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z 2026-10-25T02:00:00Z"},
		"cron on the 29th of a leap": {recurrence.Rule{Kind: recurrence.Cron, Cron: "0 0 29 2 *", Zone: "UTC"}, "2026-11-22T00:00:00Z", "2028-02-29T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, from := parse(t, c.rule), at(t, c.after)
			for want := range strings.FieldsSeq(c.want) {
				next := s.Next(from)
				if want == "-" {
					if !next.IsZero() {
						t.Fatalf("after %s it fires at %s, must not any more", from, next)
					}
					return
				}
				if !next.Equal(at(t, want)) {
					t.Fatalf("after %s it fires at %s, want %s", from, next.Format(time.RFC3339), want)
				}
				from = next
			}
		})
	}
}

// A daily task fires once for each day that there is, in every zone, whatever its clock does.
func TestEveryDayOnce(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "America/St_Johns", "Asia/Tehran"} {
		for _, clock := range []string{"00:00", "00:30", "01:59", "02:00", "02:30", "03:00", "23:59"} {
			s := parse(t, recurrence.Rule{Kind: recurrence.Daily, Time: clock, Zone: zone})
			loc, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			from := time.Date(2017, 6, 15, 12, 0, 0, 0, loc)
			for day := range 800 {
				next := s.Next(from)
				// The jump's instant may be shown as the next day's midnight at the earliest.
				want := time.Date(2017, 6, 16+day, 12, 0, 0, 0, loc)
				if d := next.Sub(want); d < -14*time.Hour || d > 14*time.Hour || !next.After(from) {
					t.Fatalf("%s at %s: firing %d is at %s", zone, clock, day, next.In(loc))
				}
				from = next
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for field, r := range map[string]recurrence.Rule{
		"repeat_type":          {Kind: "hourly", Time: "09:00", Zone: "UTC"},
		"scheduled_time":       {Kind: recurrence.Daily, Time: "9:00", Zone: "UTC"},
		"scheduled_date":       {Kind: recurrence.Once, Time: "09:00", Date: "2026-02-30", Zone: "UTC"},
		"needs scheduled_date": {Kind: recurrence.Once, Time: "09:00", Zone: "UTC"},
		"weekdays":             {Kind: recurrence.Weekly, Time: "09:00", Zone: "UTC"},
		"weekdays[1]":          {Kind: recurrence.Weekly, Time: "09:00", Weekdays: []int{0, 7}, Zone: "UTC"},
		"day_of_month":         {Kind: recurrence.Monthly, Time: "09:00", Zone: "UTC"},
		"day_of_month is 32":   {Kind: recurrence.Monthly, Time: "09:00", Day: 32, Zone: "UTC"},
		"timezone":             {Kind: recurrence.Daily, Time: "09:00"},
		"is unknown":           {Kind: recurrence.Daily, Time: "09:00", Zone: "Mars/Base"},
		"never fires":          {Kind: recurrence.Cron, Cron: "0 0 30 2 *", Zone: "UTC"},
		"five fields":          {Kind: recurrence.Cron, Cron: "@daily", Zone: "UTC"},
		"five fields: ":        {Kind: recurrence.Cron, Cron: "TZ=UTC * * * *", Zone: "UTC"},
		"cannot be read":       {Kind: recurrence.Cron, Cron: "61 * * * *", Zone: "UTC"},
		"no scheduled_time":    {Kind: recurrence.Cron, Cron: "* * * * *", Time: "09:00", Zone: "UTC"},
		"cron is for":          {Kind: recurrence.Daily, Cron: "* * * * *", Time: "09:00", Zone: "UTC"},
	} {
		_, err := recurrence.Parse(r)
		if !errors.Is(err, errs.ScheduleInvalid) || !strings.Contains(err.Error(), strings.TrimSuffix(field, ": ")) {
			t.Errorf("%+v: %v, want an error that says %q", r, err, field)
		}
	}
}

func FuzzCron(f *testing.F) {
	f.Add("0 9 * * 1", "Europe/Berlin")
	f.Add("*/7 1-3,5 29 2 0", "Pacific/Apia")
	f.Fuzz(func(t *testing.T, line, zone string) {
		s, err := recurrence.Parse(recurrence.Rule{Kind: recurrence.Cron, Cron: line, Zone: zone})
		if err != nil {
			return
		}
		from := time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)
		for range 100 {
			next := s.Next(from)
			if next.IsZero() {
				return
			}
			if !next.After(from) {
				t.Fatalf("%q in %q: %s comes after %s", line, zone, next, from)
			}
			from = next
		}
	})
}
