package sockets

import (
	"fmt"
	"net/netip"
	"slices"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// minSegments: of fewer, a share says nothing.
const minSegments = 100

// View is what a look knows of the sockets.
type View struct {
	// Sockets are those that are judged: of the target, or of the whole pod. Whole says which: the kernel counts for the pod only.
	Sockets []Socket
	Whole   bool
	// Asking are those that may wait for an answer: the target's own, where they are known; nil: Sockets.
	Asking []Socket
	// All are those of the pod. Towards counts connections by peer that are in TIME-WAIT and not among All.
	All     []Socket
	Towards map[netip.AddrPort]int
	Limits  Limits
	// Total is what was counted since the pod began, and Sample within the sample: attempts to connect without those of this look's own.
	Total, Sample Counters
	// Failed says to whom the attempts were that failed, as far as it was seen.
	Failed map[netip.AddrPort]int
}

// Find puts what is wrong with the sockets into a part.
func (v View) Find(part *rules.Part) {
	counts := Tally(v.Sockets)
	part.Find("close_wait", float64(counts["CLOSE-WAIT"]), "%d sockets in CLOSE_WAIT%s", counts["CLOSE-WAIT"], v.heap("CLOSE-WAIT"))
	part.Find("syn_sent", float64(counts["SYN-SENT"]), "%d connections get no answer (SYN_SENT)%s", counts["SYN-SENT"], v.heap("SYN-SENT"))
	asking := v.Asking
	if asking == nil {
		asking = v.Sockets
	}
	FindUnanswered(part, asking)
	v.findQueues(part)
	v.FindAttempts(part)
	if sent, again := v.Sample.SegmentsOut, v.Sample.SegmentsAgain; sent >= minSegments {
		part.Find("retransmits", float64(100*again/sent), "%d%% of the sent TCP segments had to be sent again (%d of %d)", 100*again/sent, again, sent)
	}
	v.findLimits(part)
	if part.Doubt == "" && len(part.Findings) == 0 {
		part.Doubt = Unreachable(v.All, asking)
	}
}

// Tally counts the sockets by state.
func Tally(all []Socket) map[string]int {
	counts := map[string]int{}
	for _, each := range all {
		counts[each.State]++
	}
	return counts
}

// findQueues looks at each listener's queue of connections that wait to be accepted. What was dropped long ago means something only while a queue
// is full.
func (v View) findQueues(part *rules.Part) {
	slowest, isFull := longestQueue(v.Sockets), false
	for _, each := range v.Sockets {
		if each.State != "LISTEN" || each.Waiting == 0 {
			continue
		}
		room := ""
		if each.Room > 0 {
			room = fmt.Sprintf(", of %d that may", each.Room)
		}
		part.Find("accept_queue", float64(each.Waiting), "%s%s", queueWords(each), room)
		isFull = isFull || each.Room > 0 && each.Waiting > each.Room || v.isKeptOut(each)
	}
	dropped := v.Sample.ListenOverflows
	switch {
	case slowest.Waiting > 0:
		if isFull {
			dropped = v.Total.ListenOverflows
		}
		part.Find("listen_overflow", float64(dropped), "a listen queue is full: %s at port %d, %s", report.Counted(int(slowest.Waiting), "connection waits", "connections wait"),
			slowest.Local.Port(), report.Counted(int(dropped), "was dropped", "were dropped"))
	case v.Whole:
		part.Find("listen_overflow", float64(dropped), "full listen queues of the pod dropped %s within the sample", report.Counted(int(dropped), "connection", "connections"))
	}
}

// Queued tells of the longest queue of connections that wait to be accepted, from the rule's threshold on; "" for none.
func Queued(all []Socket) string {
	longest := longestQueue(all)
	if float64(longest.Waiting) <= rules.Threshold("accept_queue") {
		return ""
	}
	return queueWords(longest)
}

// Waiting is for whose answer these sockets wait, or who waits for theirs; "" for nobody.
func Waiting(all []Socket) string {
	for _, wait := range Unanswered(all) {
		return wait.String()
	}
	return Queued(all)
}

func queueWords(listener Socket) string {
	return fmt.Sprintf("%d connections wait to be accepted at port %d", listener.Waiting, listener.Local.Port())
}

// longestQueue is the listener with the most connections that wait; of several the last.
func longestQueue(all []Socket) Socket {
	var longest Socket
	for _, each := range all {
		if each.State == "LISTEN" && each.Waiting > 0 && each.Waiting >= longest.Waiting {
			longest = each
		}
	}
	return longest
}

// Unreachable tells of a program at which only its own pod can arrive, because each listener of the pod is on the loopback: at those of the program's
// own sockets; "" for any other. A sidecar that passes on what arrives listens elsewhere.
func Unreachable(pod, own []Socket) string {
	isOpen := func(each Socket) bool { return each.State == "LISTEN" && !each.Local.Addr().IsLoopback() }
	listens := slices.IndexFunc(own, func(each Socket) bool { return each.State == "LISTEN" })
	if listens < 0 || slices.ContainsFunc(pod, isOpen) || slices.ContainsFunc(own, isOpen) {
		return ""
	}
	return fmt.Sprintf("it listens at %s only, where no Service, probe or other pod arrives", own[listens].Local)
}

// isKeptOut is whether somebody in the pod gets no answer from its own listener.
func (v View) isKeptOut(listener Socket) bool {
	for _, each := range v.All {
		if each.State == "SYN-SENT" && each.Peer.Port() == listener.Local.Port() && each.Peer.Addr() == each.Local.Addr() {
			return true
		}
	}
	return false
}

// FindAttempts puts into a part which attempts to connect failed within the sample.
func (v View) FindAttempts(part *rules.Part) {
	part.Find("connects_refused", float64(v.Sample.refused()), "%s", v.Refused())
	reset := v.Sample.reset()
	part.Find("connections_reset", float64(reset), "%d connections of the pod were reset within the sample", reset)
}

// Refused is "12 attempts to connect to 10.0.0.7:8080 and 3 to others were refused or led nowhere within the sample, of 30 of the pod"; "" for none. The
// peer comes early: a first line, and the shortest termination message, are cut.
func (v View) Refused() string {
	refused := v.Sample.refused()
	if refused == 0 {
		return ""
	}
	peer, count := v.worstFailed()
	// The two were not read at the same moment.
	count = min(count, refused)
	words := report.Counted(int64(count), "attempt") + " to connect"
	switch others := refused - count; {
	case !peer.IsValid():
		words = report.Counted(int64(refused), "attempt") + " to connect"
	case others > 0:
		words += fmt.Sprintf(" to %s and %d to others", peer, others)
	default:
		words += fmt.Sprintf(" to %s", peer)
	}
	were := "were"
	if refused == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s %s refused or led nowhere within the sample, of %d of the pod", words, were, max(refused, v.Sample.Opened))
}

// worstFailed is the peer to which the most attempts failed, as far as that was seen, and how many.
func (v View) worstFailed() (netip.AddrPort, uint64) {
	var worst netip.AddrPort
	for peer, count := range v.Failed {
		if count > v.Failed[worst] || count == v.Failed[worst] && peer.Compare(worst) < 0 {
			worst = peer
		}
	}
	return worst, uint64(v.Failed[worst])
}

func (v View) findLimits(part *rules.Part) {
	if size := v.Limits.LastPort - v.Limits.FirstPort + 1; size > 1 {
		peer, used := v.portsTowards()
		share := used * 100 / size
		part.Find("ports_near_limit", float64(share), "%d%% of the local ports towards %s are in use (%d of %d)", share, placeOf(peer), used, size)
	}
	if v.Limits.TrackedMost > 0 {
		share := v.Limits.Tracked * 100 / v.Limits.TrackedMost
		part.Find("conntrack_near_limit", float64(share), "tracked connections at %d%% of the limit (%d of %d)", share, v.Limits.Tracked, v.Limits.TrackedMost)
	}
}
