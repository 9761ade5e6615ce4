package probe

import (
	"fmt"
	"time"

	"kdebug/tools/internal/report"
)

// maxQuoted bounds a name of a certificate.
const maxQuoted = 100

func milliseconds(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func quoted(name string) string { return report.Quoted(name, maxQuoted) }
