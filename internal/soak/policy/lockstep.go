package policy

import (
	"fmt"
	"slices"
	"time"
)

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// cutOff is the hour of the day until which that day may still be proposed.
func (l Lockstep) cutOff() (hour, minute int, err error) {
	if l.CutOff == "24:00" { // the whole day
		return 24, 0, nil
	}
	at, err := time.Parse("15:04", l.CutOff)
	if err != nil {
		return 0, 0, fmt.Errorf("want an hour such as 16:00, or 24:00 for none, got %q", l.CutOff)
	}
	return at.Hour(), at.Minute(), nil
}

// Day proposes the day on which all servers flip: the local date of t, or the
// next allowed one once the cut-off has passed (D19). It returns the date and
// the instant at which that day ends. The policy has been checked, so zone and
// cut-off are good; on an unchecked one the day is empty.
func (l Lockstep) Day(t time.Time) (date string, end time.Time) {
	zone, err := time.LoadLocation(l.Zone)
	if err != nil {
		return "", time.Time{}
	}
	hour, minute, err := l.cutOff()
	if err != nil {
		return "", time.Time{}
	}
	local := t.In(zone)
	y, m, d := local.Date()
	if !local.Before(time.Date(y, m, d, hour, minute, 0, 0, zone)) {
		d++
	}
	for range weekdays {
		day := time.Date(y, m, d, 12, 0, 0, 0, zone) // noon exists on every day
		if slices.Contains(l.Days, weekdays[day.Weekday()]) {
			return day.Format(time.DateOnly), time.Date(y, m, d+1, 0, 0, 0, 0, zone).UTC()
		}
		d++
	}
	return "", time.Time{}
}
