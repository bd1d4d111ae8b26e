package recurrence

import "time"

// Next returns the first instant after another at which the rule fires; zero where there is none any more.
func (s *Schedule) Next(after time.Time) time.Time {
	shown := wall(after.In(s.zone))
	if first := s.first.Add(-time.Minute); !s.first.IsZero() && shown.Before(first) {
		shown = first
	}
	for {
		shown = s.nextShown(shown)
		if shown.IsZero() {
			return time.Time{}
		}
		// What the clock shows for the second time, or skips together with what has fired, is over.
		if at := instant(shown, s.zone); at.After(after) {
			return at
		}
	}
}

// wall is what a clock shows at an instant, written as if it were UTC, in which every day has 24 hours.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// longestGap is more days than lie between two firings of any rule but one of cron.
const longestGap = 63

// nextShown returns what the clock shows next, after shown, when the rule fires.
func (s *Schedule) nextShown(shown time.Time) time.Time {
	if s.cron != nil {
		return s.cron.Next(shown)
	}
	day := shown.Truncate(24 * time.Hour)
	if s.once {
		if at := s.first.Add(s.at); at.After(shown) {
			return at
		}
		return time.Time{}
	}
	for range longestGap {
		if at := day.Add(s.at); at.After(shown) && s.days(day) {
			return at
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}
}

// instant is the first at which the clock of a zone shows this; where it skips it, the instant of the jump.
func instant(shown time.Time, zone *time.Location) time.Time {
	// Which offset is in force around then cannot be told from what the clock shows; those of a day before and after are tried.
	near := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), 0, 0, zone)
	var first time.Time
	for _, around := range []time.Time{near.Add(-26 * time.Hour), near, near.Add(26 * time.Hour)} {
		_, offset := around.Zone()
		at := shown.Add(-time.Duration(offset) * time.Second).In(zone)
		if wall(at).Equal(shown) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		return first.UTC()
	}
	return jump(shown, near)
}

// jump returns when a clock skipped what it does not show. near is beside that, on either side.
func jump(shown, near time.Time) time.Time {
	began, ended := near.ZoneBounds()
	if !began.IsZero() {
		if before := wall(began.Add(-time.Minute)); !shown.Before(before) && shown.Before(wall(began)) {
			return began.UTC()
		}
	}
	return ended.UTC()
}
