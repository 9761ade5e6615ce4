package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/net/bpf"

	"kdebug/tools/internal/capture"
	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// programOf is what the kernel runs for a filter.
type programOf []bpf.RawInstruction

// prepareCapture checks the filter before anything is looked at; a missing right is said in the report.
func (l *look) prepareCapture() error {
	if l.settings.filter == "" {
		return nil
	}
	if l.place.OnNode {
		return errors.New("the pod has the node's network (hostNetwork), and a capture would show the traffic of other pods")
	}
	compiler := capture.Compiler{Tcpdump: []string{tcpdump}, APIServer: l.settings.apiServer, NodePorts: probe.NodePorts(), Metadata: probe.Metadata, Own: ownAddresses()}
	program, err := compiler.Compile(context.Background(), l.settings.filter, capture.Snap)
	if err != nil {
		return err
	}
	l.program = program
	return nil
}

// capture starts the capture, and says what it shows once it is over; nil where none was asked for.
func (l *look) capture(ctx context.Context) <-chan *rules.Part {
	done := make(chan *rules.Part, 1)
	switch {
	case l.settings.filter == "":
		done <- nil
	case !target.Has(l.self.Effective, "NET_RAW"):
		l.blind = "no capture: it needs NET_RAW"
		part := rules.NewPart("capture")
		part.Section = report.Section{
			Name: "capture", State: report.NotReadable, Text: "nothing was captured",
			Lacks: "NET_RAW: the profile netadmin has it; as root most runtimes give it too", Helps: []string{"general", "sysadmin"},
		}
		done <- part
	default:
		go func() { done <- l.record(ctx) }()
		// The sockets are open after a moment; what the probes send should be in it.
		time.Sleep(100 * time.Millisecond)
	}
	return done
}

func (l *look) record(ctx context.Context) *rules.Part {
	taken, err := capture.Live(ctx, l.program, l.settings.packets, l.settings.capture)
	if err == nil {
		var content []byte
		if content, err = taken.Pcap(); err == nil {
			if len(taken.Packets) > 0 {
				l.recorded = content
			}
			return taken.Look()
		}
	}
	part := rules.NewPart("capture")
	part.Section = report.Section{Name: "capture", State: report.NotReadable, Text: "nothing was captured", Lacks: err.Error(), Helps: []string{"general", "sysadmin"}}
	return part
}
