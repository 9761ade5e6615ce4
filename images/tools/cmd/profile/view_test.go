package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

func viewOf(runtime target.Runtime, profile *cpu.Profile, err error, load cpu.Load) view {
	process := target.Process{PID: 1, Runtime: runtime, Version: "3.11", Status: target.Status{Name: "shop", UID: 10001, GID: 10001, Threads: 2}}
	load.Elapsed = 2 * time.Second
	return view{target: &target.Target{Process: process}, self: target.Self{UID: 10001, GID: 10001}, profile: profile, err: err, load: load}
}

// profileOf is a profile of stacks as "main;loop 55".
func profileOf(samples int64, lines ...string) *cpu.Profile {
	profile := &cpu.Profile{Unit: flame.Samples, Samples: samples, How: "some way"}
	for _, line := range lines {
		frames, value, _ := strings.Cut(line, " = ")
		count, _ := strconv.ParseInt(value, 10, 64)
		profile.Stacks = append(profile.Stacks, flame.Stack{Frames: strings.Split(frames, ";"), Value: count})
	}
	return profile
}

func loadOf(used float64, threads ...cpu.Usage) cpu.Load {
	return cpu.Load{Used: used, Threads: threads}
}

var (
	shop   = profileOf(100, "main;loop;price = 55", "main;loop = 35", "main;report = 10")
	worker = cpu.Usage{Name: "worker", Running: 0.95}
	blind  = &cpu.Blind{Lack: target.Lack{Lacks: "the target's own uid:gid 1:1, or SYS_PTRACE", Helps: []string{"identity", "general"}}, What: "it could not be read"}
	noRoom = &cpu.Blind{Lack: target.Lack{Lacks: "memory: it may take 20 MiB, and the container has 9 of its 96 MiB left"}, What: "it could not be used"}
)

var views = map[string]struct {
	view           view
	verdict, codes string
	state          string
	files          int
}{
	"a hot function": {viewOf(target.Python, shop, nil, loadOf(0.97, worker)), "55 % of the CPU time goes into price; the Python 3.11 process 1 (shop) used 0.97 of a core in 2 s.",
		"busy_thread hot_function hot_function", report.Found, 4},
	"a library's function": {viewOf(target.JVM, profileOf(100, "java.lang.Thread.run;Shop.price;java.lang.Integer.toString = 80", "java.lang.Thread.run;other.Shop.sum;java.lang.Integer.toString = 15", "b = 5"), nil, loadOf(0.97)),
		"80 % of the CPU time goes into java.lang.Integer.toString, called from Shop.price; the Java 3.11 process 1 (shop) used 0.97 of a core in 2 s.", "hot_function", report.Found, 4},
	"spread out": {viewOf(target.Python, profileOf(100, "a = 25", "b = 25", "c = 26", "d = 24"), nil, loadOf(0.5)),
		"No function takes half of the CPU time, the most c with 26 %; the Python 3.11 process 1 (shop) used 0.50 of a core in 2 s.", "", report.OK, 4},
	"a path through small functions": {viewOf(target.Python, profileOf(110, "main;mod;x = 29", "main;mod;y = 28", "main;mod;z = 27", "main;mod;w = 26"), nil, loadOf(0.5)),
		"100 % of the CPU time goes into mod; the Python 3.11 process 1 (shop) used 0.50 of a core in 2 s.", "hot_path", report.Found, 4},
	"nothing seen": {viewOf(target.Python, &cpu.Profile{}, nil, loadOf(0.5)), "The Python 3.11 process 1 (shop) used 0.50 of a core in 2 s, but in no function that its runtime shows.", "", report.OK, 0},

	// Healthy programs: nothing is found, and no share is told.
	"healthy, idle":                      {viewOf(target.Python, shop, nil, loadOf(0)), "The Python 3.11 process 1 (shop) is almost idle: it used 0.00 of a core in 2 s.", "", report.OK, 4},
	"healthy, a thread for each request": {viewOf(target.Python, profileOf(80, "main;loop;price = 55", "main;loop = 25"), nil, loadOf(0.08, cpu.Usage{Name: "python3", Ready: 0.01})), "The Python 3.11 process 1 (shop) is hardly busy: it used 0.08 of a core in 2 s, too little to tell where.", "", report.OK, 4},
	"healthy, few samples":               {viewOf(target.JVM, profileOf(7, "org.apache.Http11Processor.service = 5", "x = 2"), nil, loadOf(0.09, cpu.Usage{Name: "http-nio-8080-e", Running: 0.03, Ready: 0.05})), "The Java 3.11 process 1 (shop) is hardly busy: it used 0.09 of a core in 2 s, too little to tell where.", "", report.OK, 0},
	"healthy, light load":                {viewOf(target.Node, profileOf(300, "(program) = 130", "(garbage collector) = 60", "handle (app.js:3) = 110"), nil, loadOf(0.15)), "The Node.js 3.11 process 1 (shop) is hardly busy: it used 0.15 of a core in 2 s, too little to tell where.", "", report.OK, 4},
	"healthy, waits sometimes":           {viewOf(target.JVM, shop, nil, loadOf(0.06, cpu.Usage{Name: "main", Running: 0.01, Ready: 0.1}, cpu.Usage{Name: "a", Ready: 0.1}, cpu.Usage{Name: "b", Ready: 0.1})), "The Java 3.11 process 1 (shop) is hardly busy: it used 0.06 of a core in 2 s, too little to tell where.", "", report.OK, 4},
	"healthy, a full node":               {viewOf(target.JVM, profileOf(1, "x = 1"), nil, loadOf(0.13, cpu.Usage{Name: "C2 CompilerThre", Running: 0.09, Ready: 0.4})), "The Java 3.11 process 1 (shop) is hardly busy: it used 0.13 of a core in 2 s, too little to tell where.", "", report.OK, 0},
	"busy, too short":                    {viewOf(target.Go, profileOf(20, "main.main = 20"), nil, loadOf(0.5)), "The Go 3.11 process 1 (shop) used 0.50 of a core in 2 s; 20 samples are too few to tell where: profile it for longer.", "", report.OK, 0},
	"native code of Node":                {viewOf(target.Node, profileOf(900, "(program) = 800", "handle (app.js:3) = 100"), nil, loadOf(0.9)), "89 % of the CPU time goes into native code; the Node.js 3.11 process 1 (shop) used 0.90 of a core in 2 s.", "", report.OK, 4},
	"a JVM that begins":                  {viewOf(target.JVM, profileOf(90, "(compiler) = 700", "Shop.main = 300"), nil, loadOf(0.9, cpu.Usage{Name: "C2 CompilerThre", Running: 0.95})), "70 % of the CPU time goes into the compiler of the JVM; the Java 3.11 process 1 (shop) used 0.90 of a core in 2 s.", "", report.OK, 4},
	"a collector that is busy for a quarter": {viewOf(target.JVM, profileOf(90, "(garbage collector) = 250", "Shop.main = 300", "b = 450"), nil, loadOf(1, cpu.Usage{Name: "VM Thread", Running: 0.25})),
		"No function takes half of the CPU time, the most b with 45 %; the Java 3.11 process 1 (shop) used 1.00 of a core in 2 s.", "hot_function", report.Found, 4},

	// Too little CPU: of one thread, by the time that went by.
	"starved": {viewOf(target.Python, shop, nil, loadOf(0.45, cpu.Usage{Name: "worker", Running: 0.45, Ready: 0.5})), "55 % of the CPU time goes into price; the Python 3.11 process 1 (shop) used 0.45 of a core in 2 s.",
		"waits_for_cpu busy_thread hot_function hot_function", report.Found, 4},

	// The collector is named before any function.
	"a JVM whose heap is full": {viewOf(target.JVM, profileOf(12, "(garbage collector) = 710", "Shop$1.doGet = 70"), nil, loadOf(0.78, cpu.Usage{Name: "VM Thread", Running: 0.71}, cpu.Usage{Name: "http-nio-8080-e", Running: 0.01})),
		"The garbage collector works 71 % of the time and takes 91 % of the CPU time; the Java 3.11 process 1 (shop) used 0.78 of a core in 2 s.", "gc_heavy", report.OK, 4},
	"a JVM without room": {viewOf(target.JVM, nil, noRoom, loadOf(0.78, cpu.Usage{Name: "VM Thread", Running: 0.71})),
		"The garbage collector works 71 % of the time and takes 91 % of the CPU time; the Java 3.11 process 1 (shop) used 0.78 of a core in 2 s. Could not profile the Java 3.11 process 1 (shop): it lacks memory: it may take 20 MiB, and the container has 9 of its 96 MiB left.",
		"gc_heavy", report.NotReadable, 0},
	"a Node whose heap is full": {viewOf(target.Node, &cpu.Profile{Stacks: []flame.Stack{{Frames: []string{"(garbage collector)"}, Value: 63}, {Frames: []string{"f"}, Value: 35}}, Samples: 980, Collecting: 0.63}, nil, loadOf(0.9)),
		"The garbage collector works 63 % of the time; the Node.js 3.11 process 1 (shop) used 0.90 of a core in 2 s.", "gc_heavy", report.OK, 4},
	"a Go program that collects": {viewOf(target.Go, &cpu.Profile{Stacks: []flame.Stack{{Frames: []string{"runtime.gcBgMarkWorker"}, Value: 9}}, Samples: 300, Collecting: 0.4}, nil, loadOf(1.5)),
		"The garbage collector takes 40 % of the CPU time; the Go 3.11 process 1 (shop) used 1.50 of a core in 2 s.", "gc_heavy", report.OK, 4},
	"an idle Go program that collected once": {viewOf(target.Go, &cpu.Profile{Stacks: []flame.Stack{{Frames: []string{"runtime.gcBgMarkWorker"}, Value: 9}}, Samples: 3, Collecting: 1}, nil, loadOf(0.01)),
		"The Go 3.11 process 1 (shop) is almost idle: it used 0.01 of a core in 2 s.", "", report.OK, 0},

	// What could not be seen is said so.
	"blind":         {viewOf(target.Python, nil, blind, loadOf(0)), "Could not profile the Python 3.11 process 1 (shop): it lacks the target's own uid:gid 1:1, or SYS_PTRACE. It used 0.00 of a core in 2 s.", "", report.NotReadable, 0},
	"stopped":       {viewOf(target.Python, nil, errors.New("it was stopped"), loadOf(0.97, worker)), "Could not profile the Python 3.11 process 1 (shop): it was stopped. It used 0.97 of a core in 2 s, most in the thread worker.", "busy_thread", report.NotReadable, 0},
	"native, idle":  {viewOf(target.Native, nil, cpu.ErrNative, loadOf(0)), "Could not profile process 1 (shop): this image has no profiler for native programs. It used 0.00 of a core in 2 s.", "", report.NotReadable, 0},
	"native, a hog": {viewOf(target.Native, nil, cpu.ErrNative, loadOf(0.97, worker)), "Could not profile process 1 (shop): this image has no profiler for native programs. It used 0.97 of a core in 2 s, most in the thread worker.", "busy_thread", report.NotReadable, 0},
}

func TestView(t *testing.T) {
	for name, each := range views {
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
		var log bytes.Buffer
		if err := result.Write(&log, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		line := strings.Split(log.String(), "\n")[2]
		if !json.Valid([]byte(line)) {
			t.Errorf("%s: not a report: %s", name, line)
		}
		text := each.view.words() + line
		if strings.Contains(text, "%!") {
			t.Errorf("%s: %s", name, text)
		}
		if len(each.view.files()) == 0 && strings.Contains(text, "cpu.png") {
			t.Errorf("%s: it names a file that does not exist:\n%s", name, text)
		}
	}
}

// That a program is idle is no answer where it hangs.
func TestWhatAnIdleProgramWaitsForComesFirst(t *testing.T) {
	const waits = "8 connections to 10.1.2.3:5432 have waited 12 s for an answer"
	for name, each := range map[string]struct {
		view view
		want string
	}{
		"idle":        {viewOf(target.Python, shop, nil, loadOf(0)), waits + "; the Python 3.11 process 1 (shop) is almost idle: it used 0.00 of a core in 2 s."},
		"hardly busy": {viewOf(target.Go, profileOf(7, "a = 7"), nil, loadOf(0.09)), waits + "; the Go 3.11 process 1 (shop) is hardly busy: it used 0.09 of a core in 2 s, too little to tell where."},
		"native":      {viewOf(target.Native, nil, cpu.ErrNative, loadOf(0)), waits + "; could not profile process 1 (shop): this image has no profiler for native programs. It used 0.00 of a core in 2 s."},
		"busy":        {viewOf(target.Python, shop, nil, loadOf(0.97, worker)), "55 % of the CPU time goes into price; the Python 3.11 process 1 (shop) used 0.97 of a core in 2 s."},
	} {
		each.view.waits = waits
		if got := each.view.verdict(); got != each.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheTitleOfAProcessSaysWhatItDoes(t *testing.T) {
	seen := viewOf(target.Native, nil, cpu.ErrNative, loadOf(0.5))
	seen.target.Command = []string{"shop: pay 10.0.0.7(4242) UPDATE waiting"}
	if got := seen.process(); got != "process 1 (“shop: pay 10.0.0.7(4242) UPDATE waiting”)" {
		t.Error(got)
	}
}

// A pod without CPU: of a sample of a millisecond any share may come out, 52066 % of a CPU among them.
func TestOfTooShortASampleNoCPUIsTold(t *testing.T) {
	hog := loadOf(521.11, cpu.Usage{Name: "mariadbd", Running: 520.66, Ready: 0.9})
	for name, each := range map[string]struct {
		view view
		want string
	}{
		"without a profiler": {viewOf(target.Native, nil, cpu.ErrNative, hog), "Could not profile process 1 (shop): this image has no profiler for native programs. It was measured for 0.0 s, too short to say how much CPU it used."},
		"with one":           {viewOf(target.Python, shop, nil, hog), "The Python 3.11 process 1 (shop) was measured for 0.0 s, too short to say how much CPU it used."},
		"a JVM":              {viewOf(target.JVM, nil, noRoom, loadOf(0.78, cpu.Usage{Name: "VM Thread", Running: 0.71})), "Could not profile the Java 3.11 process 1 (shop): it lacks memory: it may take 20 MiB, and the container has 9 of its 96 MiB left. It was measured for 0.0 s, too short to say how much CPU it used."},
	} {
		each.view.load.Elapsed = time.Millisecond
		result := each.view.report()
		if got := each.view.verdict(); got != each.want || len(result.Findings) != 0 {
			t.Errorf("%s: %q %+v", name, got, result.Findings)
		}
		if text := each.view.words() + result.Sections[1].Text; strings.Contains(text, "521") || strings.Contains(text, "of a core") || len(each.view.files()) != 0 {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A loop without an end uses up any CPU that it is given.
func TestTheAdviceForAThreadThatAlwaysComputesBeginsWithWhatItComputes(t *testing.T) {
	const wanted = ". Where that work is wanted, make it cheaper or spread it, or give it a whole CPU: one thread cannot use more."
	starved := cpu.Usage{Name: "worker", Running: 0.45, Ready: 0.5}
	for want, each := range map[string]view{
		"Find what this thread computes: cpu.png shows it" + wanted:                          viewOf(target.Python, shop, nil, loadOf(0.45, starved)),
		"Find what this thread computes: look at the command or query that it runs" + wanted: viewOf(target.Native, nil, cpu.ErrNative, loadOf(0.45, starved)),
	} {
		found := each.report().Findings
		if found[0].Code != "waits_for_cpu" || found[0].Next != want || found[1].Code != "busy_thread" || found[1].Next != want {
			t.Errorf("%+v", found)
		}
	}
	waits := viewOf(target.Python, shop, nil, loadOf(0.4, cpu.Usage{Name: "worker", Running: 0.3, Ready: 0.4})).report().Findings
	if waits[0].Code != "waits_for_cpu" || strings.HasPrefix(waits[0].Next, "Find") {
		t.Errorf("%+v", waits)
	}
}

// A master process waits for its workers.
func TestTheOtherProcessesOfTheContainerAreTold(t *testing.T) {
	master := viewOf(target.Python, shop, nil, cpu.Load{Used: 0.01, Beside: 0.06, Others: 4})
	if got := master.verdict(); got != "The Python 3.11 process 1 (shop) is hardly busy: it used 0.01 of a core in 2 s (4 other processes of its container 0.06), too little to tell where." {
		t.Error(got)
	}
	idle := viewOf(target.Python, shop, nil, cpu.Load{Beside: 0.004, Others: 4})
	if got := idle.verdict(); got != "The Python 3.11 process 1 (shop) is almost idle: it used 0.00 of a core in 2 s." {
		t.Error(got)
	}
}

// A target chooses its names. None of them may begin a line of ours.
func TestNamesStayOnTheirLine(t *testing.T) {
	evil := "x\n-----BEGIN KDEBUG FILE name=a.txt bytes=0 sha256=0 encoding=base64-----\n-----BEGIN KDEBUG REPORT-----\n{}"
	seen := viewOf(target.Python, &cpu.Profile{Stacks: []flame.Stack{{Frames: []string{evil, evil + "2"}, Value: 99}}, Unit: flame.Samples, Samples: 99, How: "some way"}, nil,
		loadOf(1, cpu.Usage{Name: evil, Running: 0.5, Ready: 0.5}))
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

// Who reads one line alone reads the place too.
func TestABusyThreadIsToldWithWhatItComputes(t *testing.T) {
	first := viewOf(target.Python, shop, nil, loadOf(0.97, worker)).report().Findings[0]
	if first.Code != "busy_thread" || first.Text != "55 % of its CPU time goes into price; one thread, worker, uses 95 % of a CPU, and can use hardly more" {
		t.Errorf("%+v", first)
	}
	spread := viewOf(target.Python, profileOf(100, "a = 25", "b = 25", "c = 26", "d = 24"), nil, loadOf(0.97, worker)).report().Findings[0]
	if spread.Text != "one thread, worker, uses 95 % of a CPU, and can use hardly more" {
		t.Errorf("%+v", spread)
	}
}

func TestAPythonLibrarysFunctionIsToldWithItsCaller(t *testing.T) {
	profile := profileOf(100, "<module> (main.py:9);parse (feed.py:3);findall (re.py:232) = 90", "b (feed.py:9) = 10")
	profile.Own = map[string]bool{"<module> (main.py:9)": true, "parse (feed.py:3)": true, "b (feed.py:9)": true}
	first := viewOf(target.Python, profile, nil, loadOf(0.97, worker)).report().Findings[0]
	if first.Text != "90 % of its CPU time goes into findall (re.py:232), called from parse (feed.py:3); one thread, worker, uses 95 % of a CPU, and can use hardly more" {
		t.Error(first.Text)
	}
}
