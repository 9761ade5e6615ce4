package capture

import (
	"fmt"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

const shownConversations = 15

// Look says what a capture shows.
func (t Taken) Look() *rules.Part {
	part := rules.NewPart("capture")
	summary := t.Sum()
	part.Section.Text = fmt.Sprintf("%s in %.1f s, %s", report.Counted(len(t.Packets), "packet"), t.For.Seconds(), report.Counted(len(summary.Conversations), "conversation"))
	if len(t.Packets) == 0 {
		part.Find("capture_empty", 0, "no packet passed the filter in %.0f s", t.For.Seconds())
	}
	if t.Full {
		part.Say("ended after %s, because it has as many packets as it may", t.For.Round(time.Millisecond))
	}
	if t.Dropped > 0 {
		part.Say("the kernel dropped %d packets more, for which there was no room", t.Dropped)
	}
	var unanswered, resets int
	var worst Conversation
	for _, each := range summary.Conversations {
		if each.Again > 0 && !each.Answered {
			unanswered++
			worst = each
		}
		resets += each.Resets
	}
	part.Find("capture_unanswered", float64(unanswered), "%s without an answer, as %s to %s", report.Counted(unanswered, "connection"), worst.From, worst.To)
	part.Find("capture_resets", float64(resets), "%s among %s", report.Counted(resets, "reset"), report.Counted(len(t.Packets), "packet"))
	if summary.Unreachable > 0 {
		part.Say("%d messages say that something is unreachable (ICMP)", summary.Unreachable)
	}
	for _, each := range summary.Conversations[:min(len(summary.Conversations), shownConversations)] {
		part.Say("%s", each)
	}
	if more := len(summary.Conversations) - shownConversations; more > 0 {
		part.Say("and %d more conversations", more)
	}
	return part
}
