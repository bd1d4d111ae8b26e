package cluster

import (
	"encoding/json"
	"time"
)

// Clock is a clock of its own: at Began, by the machine's, it showed From, and it goes Speed times as fast.
type Clock struct {
	Began, From time.Time
	Speed       float64
}

// At returns what the clock shows at an instant of the machine's.
func (c Clock) At(real time.Time) time.Time {
	return c.From.Add(time.Duration(float64(real.Sub(c.Began)) * c.Speed))
}

// now is nil for the machine's clock.
func (c Clock) now() func() time.Time {
	if c.Speed == 0 {
		return nil
	}
	return func() time.Time { return c.At(time.Now()) }
}

func (c Clock) text() string {
	raw, _ := json.Marshal(c) // of times and a number
	return string(raw)
}

func readClock(text string) (c Clock, err error) {
	if text == "" {
		return c, nil
	}
	return c, json.Unmarshal([]byte(text), &c)
}
