package diagnose

import (
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

func TestWhoWaitsAndWhoIsBusyIsToldFirst(t *testing.T) {
	var living []process
	for pid := range 20 {
		living = append(living, process{pid: pid, Status: target.Status{Name: "postgres", State: 'S', Threads: 1, Parent: 1}})
	}
	living[18].title, living[18].later = "postgres: shop [local] SELECT", 50
	living[19].title = "postgres: shop [local] UPDATE waiting"
	part := rules.NewPart("processes")
	tellProcesses(part, living, time.Second)
	if len(part.Lines) != shownProcesses+1 || part.Lines[shownProcesses] != "and 8 more processes" {
		t.Fatalf("%d lines, the last %q", len(part.Lines), part.Lines[len(part.Lines)-1])
	}
	for index, line := range []string{
		"19 postgres “postgres: shop [local] UPDATE waiting” sleeps, 1 thread, 0 MiB, child of 1",
		"18 postgres “postgres: shop [local] SELECT” sleeps, 500 millicores, 1 thread, 0 MiB, child of 1",
		"0 postgres sleeps, 1 thread, 0 MiB, child of 1",
	} {
		if part.Lines[index] != line {
			t.Errorf("line %d is %q, not %q", index, part.Lines[index], line)
		}
	}
}

func TestWhoSaysThatItWaitsIsInTheSummary(t *testing.T) {
	living := []process{{title: "postgres: a UPDATE waiting"}, {title: "postgres: checkpointer"}, {title: "postgres: b UPDATE waiting"}}
	if text := waitingTitles(living); text != ", 2 say that they wait (“postgres: a UPDATE waiting”)" {
		t.Errorf("%q", text)
	}
	if text := waitingTitles(living[1:2]); text != "" {
		t.Errorf("%q", text)
	}
}

func TestTheKernelsLettersAreToldInWords(t *testing.T) {
	for state, words := range map[byte]string{'R': "runs", 'S': "sleeps", 'D': "waits for a disk", 'T': "is stopped by a signal", 't': "is stopped by a debugger"} {
		if got := (process{Status: target.Status{State: state}}).doing(); got != words || strings.Contains(got, string(state)+" (") {
			t.Errorf("%c is %q", state, got)
		}
	}
}

func TestTheProgramIsSaidInWords(t *testing.T) {
	for _, each := range []struct {
		runtime target.Runtime
		version string
		words   string
	}{
		{target.JVM, "17.0.15", "a Java 17.0.15 program"}, {target.Python, "", "a Python program"}, {target.Native, "", "a native program"},
		{"dotnet", "8.0.1", "a .NET 8.0.1 program"}, {target.Unknown, "", ""},
	} {
		if got := runtimeWords(each.runtime, each.version); got != each.words {
			t.Errorf("%s is %q", each.runtime, got)
		}
	}
}
