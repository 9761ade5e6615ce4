package main

import (
	"regexp"
	"strings"
	"testing"
)

// inherited are programs that print how they were started, each as one process: a shell has more open while it starts others.
var inherited = [][]string{
	{"cat", "/proc/self/status", "/proc/self/limits", "/proc/self/oom_score_adj", "/proc/self/coredump_filter", "/proc/self/personality", "/proc/self/timerslack_ns"},
	{"cat", "/proc/self/environ", "/proc/self/cmdline", "/proc/self/cgroup"},
	{"ls", "-l", "/proc/self/fd"},
	{"pwd"},
	{"sh", "-c", `read -r own rest </proc/$$/stat; set -- $rest; echo "group $(($4 - own)) session $(($5 - own)) nice ${18}"`},
}

// ofItself are lines about a process that are its own affair, or those of the moment.
var ofItself = regexp.MustCompile(`(?m)^(Pid|Tgid|Ngid|PPid|TracerPid|NS[a-z]+|Vm[A-Za-z]+|Rss[A-Za-z]+|HugetlbPages|FDSize|SigQ|Cpus_.*|.*ctxt_switches|total .*):?.*\n`)

// links are what the lines of ls say that is no matter of the open file.
var links = regexp.MustCompile(`(?m)^l.* ([0-9]+ -> [^:\n0-9]*).*$`)

func TestTheProgramBeginsAsARuntimeWouldStartIt(t *testing.T) {
	parentOnce.Do(buildParent)
	for _, program := range inherited {
		for _, most := range []string{"", "ulimit -S -n 700; ulimit -H -n 900; "} {
			limited := func(command ...string) []string {
				return append([]string{"sh", "-c", most + `exec "$@"`, "sh"}, command...)
			}
			// A runtime gives its process a session.
			plain := contain(t, limited(append([]string{"setsid"}, program...)...)...)
			if code := plain.ends(t); code != 0 {
				t.Fatalf("%d %s", code, plain.out.String())
			}
			again := oncemore(t, "15s", program...)
			at := len(again.Args) - len(program) - 4
			again.Args = append(again.Args[:at:at], limited(again.Args[at:]...)...)
			again.tells(t, 0, "exit code 0", "")
			got, _, _ := strings.Cut(again.out.String(), "\nkdebug blackbox, ")
			plainly := func(text string) string { return links.ReplaceAllString(ofItself.ReplaceAllString(text, ""), "$1") }
			differs(t, plainly(got), plainly(plain.out.String()))
		}
	}
}

// differs tells each line that is not the same.
func differs(t *testing.T, got, want string) {
	t.Helper()
	seen, expected := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(seen) != len(expected) || len(seen) < 2 {
		t.Errorf("%d lines, without us %d: %q %q", len(seen), len(expected), got, want)
	}
	for at := range min(len(seen), len(expected)) {
		if seen[at] != expected[at] {
			t.Errorf("it sees %q, without us %q", seen[at], expected[at])
		}
	}
}
