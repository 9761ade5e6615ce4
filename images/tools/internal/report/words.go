package report

import (
	"fmt"
	"strings"
)

// Counted is "1 thread" or "3 threads"; many is for words with another plural than "-s", or "-es" behind "ss".
func Counted[number int | int64](count number, one string, many ...string) string {
	switch {
	case count == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", count, many[0])
	case strings.HasSuffix(one, "ss"):
		return fmt.Sprintf("%d %ses", count, one)
	}
	return fmt.Sprintf("%d %ss", count, one)
}
