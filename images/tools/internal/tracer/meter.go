package tracer

import "time"

const (
	// often is how many stops a second are too many, over a span: each costs the target some 30 µs.
	often = 2000
	span  = 5 * time.Second
)

// meter counts stops.
type meter struct {
	began time.Time
	count int
	all   int64
}

// tooOften counts one, and says whether there were too many in the last span.
func (m *meter) tooOften(now time.Time) bool {
	m.all++
	m.count++
	passed := now.Sub(m.began)
	if passed < span {
		return false
	}
	most := int(passed.Seconds() * often)
	count := m.count
	m.began, m.count = now, 0
	return count > most
}
