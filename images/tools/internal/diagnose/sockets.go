package diagnose

import (
	"fmt"
	"strings"
	"sync"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/sockets"
)

// shownPorts is how many of the ports are named at which the target listens.
const shownPorts = 8

// network is what one reading of the pod's sockets showed, and who probes it meanwhile.
type network struct {
	pod sockets.Pod
	err error
	// mine are the target's sockets; those of the whole pod where its open files could not all be seen.
	mine  []sockets.Socket
	whole bool
	// probes are those that connect somewhere during the sample: what they do to the pod's counters is none of the pod's doing.
	probes sync.WaitGroup
	// calm is the reading after the last probe, from which on the attempts to connect are the pod's own.
	calm chan calm
}

type calm struct {
	counters sockets.Counters
	watch    *sockets.Watch
}

// probe does something that connects to somebody.
func (n *network) probe(do func()) { n.probes.Go(do) }

// socketsSection looks at the sockets of the target, or of the whole pod where the target does not let us see which are its own.
type socketsSection struct{ before sockets.Counters }

func (s *socketsSection) begin(look *Look) {
	s.before = sockets.Count()
	seen := &network{calm: make(chan calm, 1)}
	seen.pod, seen.err = sockets.ReadPod()
	seen.whole = !look.open.complete
	for _, each := range seen.pod.Live {
		if seen.whole || look.open.sockets[uint64(each.Inode)] {
			seen.mine = append(seen.mine, each)
		}
	}
	look.network = seen
}

func (s *socketsSection) end(look *Look) *rules.Part {
	part, seen := rules.NewPart("sockets"), look.network
	if seen.err != nil {
		return part.Blind("the sockets are not readable: "+seen.err.Error(), "sock_diag or /proc/net/tcp: the kernel refuses both")
	}
	after := sockets.Count()
	view := sockets.View{
		Sockets: seen.mine, Whole: seen.whole, All: seen.pod.Live, Towards: seen.pod.Towards, Limits: sockets.ReadLimits(), Total: after, Sample: after.Since(s.before),
	}
	view.Sample.Opened, view.Sample.Failed, view.Sample.Reset, view.Sample.Cut = 0, 0, 0, 0
	select {
	case calm := <-seen.calm:
		quiet := after.Since(calm.counters)
		view.Failed = calm.watch.Stop()
		view.Sample.Opened, view.Sample.Failed, view.Sample.SixOut = quiet.Opened, quiet.Failed, quiet.SixOut
		view.Sample.Reset, view.Sample.Cut = quiet.Reset, quiet.Cut
	default:
		// A probe still waits, so nobody knows whose attempts failed.
	}
	view.Find(part)
	part.Section.Text = s.summary(look, view)
	if ports := portsOf(seen.mine); ports != "" {
		part.Say("listens at port %s", ports)
	}
	return part
}

func (s *socketsSection) summary(look *Look, view sockets.View) string {
	seen, counts := look.network, sockets.Tally(view.Sockets)
	whose := "target"
	if seen.whole {
		whose = "whole pod"
	}
	text := fmt.Sprintf("%d of the %s: %d established, %d listening, %d CLOSE_WAIT, %d SYN_SENT; %d TIME_WAIT in the pod",
		len(view.Sockets), whose, counts["ESTAB"], counts["LISTEN"], counts["CLOSE-WAIT"], counts["SYN-SENT"], seen.pod.TimeWait)
	if seen.pod.More > 0 {
		text += fmt.Sprintf("; %d more were not looked at", seen.pod.More)
		look.cut("sockets")
	}
	if dropped := view.Total.ListenOverflows; dropped > 0 {
		text += "; " + report.Counted(int64(dropped), "connection") + " dropped by full listen queues since the start"
	}
	if sent := view.Sample.SegmentsOut; sent >= 100 {
		text += fmt.Sprintf("; %d%% sent again", 100*view.Sample.SegmentsAgain/sent)
	}
	look.amount("sockets", int64(counts["ESTAB"]), "ESTABLISHED")
	look.amount("sockets", int64(counts["SYN-SENT"]), "SYN_SENT")
	look.amount("sockets", int64(counts["CLOSE-WAIT"]), "CLOSE_WAIT")
	look.amount("sockets", int64(seen.pod.TimeWait), "TIME_WAIT")
	look.amount("sockets", int64(counts["LISTEN"]), "LISTEN")
	return text
}

// portsOf are the ports at which somebody listens.
func portsOf(all []sockets.Socket) string {
	var ports []string
	known := map[string]bool{}
	for _, each := range all {
		if port := fmt.Sprint(each.Local.Port()); each.State == "LISTEN" && !known[port] && len(ports) < shownPorts {
			known[port] = true
			ports = append(ports, port)
		}
	}
	return strings.Join(ports, " ")
}
