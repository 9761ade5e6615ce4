package probe

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func milliseconds(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func count(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") {
		thing += "e"
	}
	return strconv.Itoa(number) + " " + thing + "s"
}

func quoted(name string) string { return `"` + name + `"` }
