package stack

import (
	"fmt"
	"strings"

	"kdebug/tools/internal/report"
)

// Text is a line for each thread, and its frames.
func Text(threads []Thread) string {
	var text strings.Builder
	for _, thread := range threads {
		fmt.Fprintf(&text, "%s (thread %d): %s, %.2f of a CPU, %.2f more while it was ready and had none\n", report.Line(thread.Name, 40), thread.ID, Does(thread), thread.Kernel.Running, thread.Kernel.Ready)
		for _, frame := range thread.Frames {
			fmt.Fprintf(&text, "    %s\n", report.Line(frame, 240))
		}
	}
	return text.String()
}
