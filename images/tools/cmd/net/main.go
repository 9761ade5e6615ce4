// Command net looks at the network of a pod from an ephemeral container: its sockets, its name servers, an endpoint (NET_ENDPOINT), and the
// packets that a filter wants (NET_FILTER). docs/diagnostic-images.md describes what it reads and writes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/frame"
	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/sock"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

const (
	version        = "0.1.0"
	terminationLog = "/dev/termination-log"
	tcpdump        = "/usr/bin/tcpdump"
	// sample is how long the counters are watched.
	sample = 3 * time.Second
	// limit ends a run that hangs: a capture, and all that is probed at its worst.
	limit = 150 * time.Second
	// maxSockets bounds the file of sockets to about 2 MiB.
	maxSockets = 20_000
)

func main() {
	limits.RefuseWords("net")
	limits.Bound()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	ctx, stop := context.WithTimeout(ctx, limit)
	code := run(ctx, os.Stdout)
	stop()
	cancel()
	os.Exit(code)
}

// run looks, and returns the exit code: 0 if it could look, whatever it found.
func run(ctx context.Context, out io.Writer) int {
	began := time.Now()
	result := limits.Begin("net", version)
	look := &look{self: target.Whoami()}
	if err := look.prepare(os.Getenv); err != nil {
		result.Verdict = "Could not look: " + err.Error() + "."
		fmt.Fprintln(out, report.Line(result.Verdict, 300))
		_ = result.Write(out, terminationLog)
		return 1
	}
	result.Target = look.targetOf()
	look.all(ctx)
	for _, part := range look.parts {
		result.Findings = append(result.Findings, part.Findings...)
		result.Sections = append(result.Sections, part.Section)
	}
	rules.Sort(result.Findings)
	result.Verdict = look.verdict(result.Findings)
	result.Cost = report.CostSince(began)
	result.SampleSeconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
	look.tell(out, result)
	for _, file := range look.files {
		if err := frame.Write(out, file.name, file.content); err != nil {
			return 1
		}
	}
	if err := result.Write(out, terminationLog); err != nil {
		return 1
	}
	return 0
}

type file struct {
	name    string
	content []byte
}

// look is one run.
type look struct {
	self     target.Self
	settings settings
	// target is nil where no container was named: the network is the pod's, and seen all the same.
	target  *target.Target
	place   probe.Place
	program programOf
	parts   []*rules.Part
	files   []file
	// recorded is the file of the capture; nil where there is none.
	recorded []byte
	// untested says why the endpoint was not tried, and blind why nothing was captured; "" otherwise.
	untested, blind string
}

// prepare refuses what cannot be done before anything is sent.
func (l *look) prepare(variable func(string) string) error {
	found, err := target.Find()
	if err != nil && !errors.Is(err, target.ErrNoTarget) {
		return err
	}
	l.target = found
	if l.settings, err = readSettings(variable); err != nil {
		return err
	}
	l.place = findPlace()
	if l.settings.endpoint != nil {
		if err := l.place.Check(*l.settings.endpoint); err != nil {
			return err
		}
	}
	return l.prepareCapture()
}

func (l *look) targetOf() *report.Target {
	if l.target == nil {
		return &report.Target{}
	}
	return &report.Target{
		Effective: true, PID: l.target.PID, UID: report.ID(l.target.UID), GID: report.ID(l.target.GID), Name: l.target.Name,
		Capabilities: target.Capabilities(l.target.Permitted),
	}
}

// all looks at the sockets first, before those of the probes are among them, and probes while the capture runs. What the kernel counts is watched after
// the probes, which would count as attempts of the pod.
func (l *look) all(ctx context.Context) {
	known, err := sockets.All()
	captured := l.capture(ctx)
	probed := l.probe(ctx, sockets.Troubled(known))
	before, watch := sockets.Count(), sockets.WatchFailed()
	limits.Pause(ctx, sample)
	after, failed := sockets.Count(), watch.Stop()
	taken := <-captured
	l.parts = append(l.parts, probed...)
	if err != nil {
		part := rules.NewPart("sockets")
		part.Section = report.Section{Name: "sockets", State: report.NotReadable, Text: err.Error(), Lacks: "sock_diag: the kernel or its filter of calls refuses it"}
		l.parts = append(l.parts, part)
	} else {
		view := sockets.View{Sockets: known, All: known, Whole: true, Limits: sockets.ReadLimits(), Total: after, Sample: after.Since(before), Failed: failed}
		if l.target != nil {
			view.Asking = sock.Of(l.target, known)
		}
		l.parts = append(l.parts, sockets.Look(view))
		l.files = append(l.files, file{"sockets.txt", []byte(sockets.Table(known, maxSockets))})
	}
	if taken != nil {
		l.parts = append(l.parts, taken)
	}
	if l.recorded != nil {
		l.files = append(l.files, file{"capture.pcap", l.recorded})
	}
}

// probe asks the endpoint; without one, the name servers, and the peers with which something is wrong.
func (l *look) probe(ctx context.Context, troubled []netip.AddrPort) []*rules.Part {
	// Without a resolv.conf there is no name server.
	names, _ := probe.ReadNames("/etc/resolv.conf", "/etc/hosts")
	if l.settings.endpoint == nil {
		part, _ := names.Cluster(ctx, l.settings.inCluster, sockets.Count().Strays)
		return []*rules.Part{part, probe.Peers(ctx, l.place, troubled)}
	}
	prober := probe.Prober{Place: l.place, Names: names, Roots: roots(l.target), Now: time.Now()}
	parts, untested := prober.Run(ctx, *l.settings.endpoint)
	l.untested = untested
	return parts
}

func (l *look) verdict(findings []report.Finding) string {
	about := "the pod's sockets, peers and name servers"
	if l.settings.endpoint != nil {
		about = l.settings.endpoint.String()
	}
	words := "No problems found with " + about
	for _, part := range l.parts {
		if part.Doubt != "" {
			words = part.Doubt + "; no problems found with " + about
			break
		}
	}
	for _, part := range l.parts {
		if l.settings.endpoint != nil && part.Section.State == report.OK {
			words += fmt.Sprintf("; %s: %s", part.Section.Name, part.Section.Text)
		}
	}
	if len(findings) > 0 {
		texts := make([]string, len(findings))
		for index, each := range findings {
			texts[index] = each.Text
		}
		number := fmt.Sprintf("%d findings", len(findings))
		if len(findings) == 1 {
			number = "1 finding"
		}
		words = fmt.Sprintf("%s with %s: %s", number, about, strings.Join(texts, "; "))
	}
	for _, each := range []string{l.untested, l.blind} {
		if each != "" {
			words += "; " + each
		}
	}
	return report.Line(words, 299) + "."
}

// tell writes the words for people.
func (l *look) tell(out io.Writer, result *report.Report) {
	fmt.Fprintf(out, "%s\n%s\n", limits.Heading("net", time.Now()), result.Verdict)
	for _, part := range l.parts {
		fmt.Fprintf(out, "\n%-8s %-14s %s\n", part.Section.Name, strings.ReplaceAll(part.Section.State, "-", " "), report.Line(part.Section.Text, 300))
		for _, each := range part.Findings {
			fmt.Fprintf(out, "    ! %s\n      %s\n", report.Line(each.Text, 300), each.Next)
		}
		for _, line := range part.Lines {
			fmt.Fprintf(out, "      %s\n", line)
		}
	}
	fmt.Fprintf(out, "\nThis look took %d ms, %d ms of CPU and %.1f MiB of memory.\n", result.Cost.Milliseconds, result.Cost.CPUMilliseconds, float64(result.Cost.MemoryBytes)/(1<<20))
}
