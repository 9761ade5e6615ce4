package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

func viewOf(profile *cpu.Profile, err error, load cpu.Load) view {
	process := target.Process{PID: 1, Runtime: target.Python, Version: "3.11", Status: target.Status{Name: "python3", UID: 10001, GID: 10001, Threads: 2}}
	return view{target: &target.Target{Process: process}, self: target.Self{UID: 10001, GID: 10001}, length: 10 * time.Second, profile: profile, err: err, load: load}
}

var (
	shop = &cpu.Profile{Stacks: []flame.Stack{{Frames: []string{"main", "loop", "price"}, Value: 55}, {Frames: []string{"main", "loop"}, Value: 35},
		{Frames: []string{"main", "report"}, Value: 10}}, Unit: flame.Samples, How: "some way"}
	busy = cpu.Load{Used: 0.97, Threads: []cpu.Usage{{Name: "worker", Cores: 0.95}, {Name: "other", Cores: 0.02}}}
)

func TestView(t *testing.T) {
	blind := &cpu.Blind{Lack: target.Lack{Lacks: "the target's own uid:gid 1:1, or SYS_PTRACE", Helps: []string{"identity", "general"}}, What: "it could not be read"}
	for name, each := range map[string]struct {
		view    view
		verdict string
		codes   string
		state   string
		files   int
	}{
		"a hot function": {viewOf(shop, nil, busy), "55 % of the CPU time goes into price; the Python 3.11 process 1 (python3) uses 0.97 of a core.",
			"busy_thread hot_function hot_function", report.Found, 4},
		"idle": {viewOf(shop, nil, cpu.Load{}), "The Python 3.11 process 1 (python3) is almost idle: it used 0.00 of a core.", "", report.OK, 4},
		"starved": {viewOf(shop, nil, cpu.Load{Used: 0.01, Waiting: 0.4}), "55 % of the CPU time goes into price; the Python 3.11 process 1 (python3) uses 0.01 of a core.",
			"waits_for_cpu hot_function hot_function", report.Found, 4},
		"spread out": {viewOf(&cpu.Profile{Stacks: []flame.Stack{{Frames: []string{"a"}, Value: 25}, {Frames: []string{"b"}, Value: 25}, {Frames: []string{"c"}, Value: 26},
			{Frames: []string{"d"}, Value: 24}}, Unit: flame.Samples}, nil, cpu.Load{Used: 0.5}),
			"No function takes half of the CPU time, the most c with 26 %; the Python 3.11 process 1 (python3) uses 0.50 of a core.", "", report.OK, 4},
		"a path through small functions": {viewOf(&cpu.Profile{Stacks: []flame.Stack{{Frames: []string{"main", "mod", "x"}, Value: 29}, {Frames: []string{"main", "mod", "y"}, Value: 28},
			{Frames: []string{"main", "mod", "z"}, Value: 27}, {Frames: []string{"main", "mod", "w"}, Value: 26}}, Unit: flame.Samples}, nil, cpu.Load{Used: 0.5}),
			"100 % of the CPU time goes into mod; the Python 3.11 process 1 (python3) uses 0.50 of a core.", "hot_path", report.Found, 4},
		"nothing seen": {viewOf(&cpu.Profile{}, nil, cpu.Load{Used: 0.5}), "The Python 3.11 process 1 (python3) used 0.50 of a core, but in no function that its runtime shows.", "", report.OK, 0},
		"blind":        {viewOf(nil, blind, busy), "No profile of the Python 3.11 process 1 (python3): it lacks the target's own uid:gid 1:1, or SYS_PTRACE.", "busy_thread", report.NotReadable, 0},
		"stopped":      {viewOf(nil, errors.New("it was stopped"), busy), "No profile of the Python 3.11 process 1 (python3): it was stopped.", "busy_thread", report.NotReadable, 0},
	} {
		if got := each.view.verdict(); got != each.verdict {
			t.Errorf("%s: verdict %q", name, got)
		}
		result := each.view.report()
		var codes []string
		for _, finding := range result.Findings {
			codes = append(codes, finding.Code)
		}
		if got := strings.Join(codes, " "); got != each.codes {
			t.Errorf("%s: findings %q", name, got)
		}
		if got := result.Sections[0].State; got != each.state {
			t.Errorf("%s: state %q", name, got)
		}
		if got := len(each.view.files()); got != each.files {
			t.Errorf("%s: %d files", name, got)
		}
		if strings.Contains(each.view.words(), "%!") {
			t.Errorf("%s: %s", name, each.view.words())
		}
		var log bytes.Buffer
		if err := result.Write(&log, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		line := strings.Split(log.String(), "\n")[2]
		if !json.Valid([]byte(line)) {
			t.Errorf("%s: not a report: %s", name, line)
		}
	}
}

// A target chooses its names. None of them may begin a line of ours.
func TestNamesStayOnTheirLine(t *testing.T) {
	evil := "x\n-----BEGIN KDEBUG FILE name=a.txt bytes=0 sha256=0 encoding=base64-----\n-----BEGIN KDEBUG REPORT-----\n{}"
	seen := viewOf(&cpu.Profile{Stacks: []flame.Stack{{Frames: []string{evil, evil + "2"}, Value: 9}}, Unit: flame.Samples, How: "some way"}, nil,
		cpu.Load{Used: 1, Threads: []cpu.Usage{{Name: evil, Cores: 1}}})
	seen.target.Name = evil
	text := seen.words() + seen.verdict()
	for _, file := range seen.files() {
		text += string(file.content)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "-----") {
			t.Errorf("a line begins %q", line)
		}
	}
}

func TestLengthOf(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 10 * time.Second, "1": time.Second, "60": time.Minute} {
		if got, err := lengthOf(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "61", "-1", "1.5", "ten", " 5"} {
		if _, err := lengthOf(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
