package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

func folderWith(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func opened(t *testing.T, path string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// lookIn is a look at a target whose root is a folder.
func lookIn(t *testing.T, root string) *Look {
	t.Helper()
	self, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	proc := folderWith(t, map[string]string{fmt.Sprint(os.Getpid()) + "/cgroup": "0::/\n"})
	if err := os.Symlink(root, filepath.Join(proc, fmt.Sprint(os.Getpid()), "root")); err != nil {
		t.Fatal(err)
	}
	return &Look{Target: self.In(target.FS(proc))}
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

func TestALinkOutOfTheTargetsRootIsNotFollowedForTheNumbersOfACgroup(t *testing.T) {
	others := folderWith(t, map[string]string{"memory.current": "7\n", "cpu.stat": "usage_usec 5\n"})
	folder := t.TempDir()
	link(t, others, folder+"/sys/fs/cgroup")
	if found := findCgroup(lookIn(t, folder)); found.version != 0 {
		t.Errorf("by a folder: %+v", readMemory(found))
	}
	file := folderWith(t, map[string]string{"sys/fs/cgroup/cpu.stat": "usage_usec 5\n"})
	link(t, others+"/memory.current", file+"/sys/fs/cgroup/memory.current")
	if found := findCgroup(lookIn(t, file)); found.version != 2 || readMemory(found).used.known {
		t.Errorf("by a file: %+v", readMemory(found))
	}
}

func TestAPipeIsNoNumberOfACgroup(t *testing.T) {
	root := folderWith(t, map[string]string{"sys/fs/cgroup/x": ""})
	if err := syscall.Mkfifo(root+"/sys/fs/cgroup/memory.current", 0o600); err != nil {
		t.Fatal(err)
	}
	if found := findCgroup(lookIn(t, root)); found.version != 0 {
		t.Errorf("%+v", found)
	}
}

func TestAControllerMayBeALinkWithinTheTargetsRoot(t *testing.T) {
	root := folderWith(t, map[string]string{"sys/fs/cgroup/cpu,cpuacct/cpuacct.usage": "5000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "9\n"})
	for _, name := range []string{"cpu", "cpuacct"} {
		link(t, "cpu,cpuacct", root+"/sys/fs/cgroup/"+name)
	}
	found := findCgroup(lookIn(t, root))
	if found.version != 1 || readMemory(found).used.value != 9 || readCPU(found).usage.value != 5 {
		t.Errorf("%+v %+v %+v", found, readMemory(found), readCPU(found))
	}
}

func TestANumberOfACgroupIsAWholeOneOrUnknown(t *testing.T) {
	for text, want := range map[string]amount{
		"0\n": {0, true}, "12\n": {12, true}, "max\n": {}, "-1\n": {}, "": {}, "9223372036854771712\n": {}, "999999999999999999\n": {999999999999999999, true},
	} {
		if got := numberIn(opened(t, folderWith(t, map[string]string{"n": text})), "n"); got != want {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestAProcessThatSharesOurViewLiesDeeperThanTheMount(t *testing.T) {
	root := folderWith(t, map[string]string{"memory/pod/app/x": "", "x": ""})
	for text, folder := range map[string]string{
		"3:memory:/pod/app\n":        root + "/memory/pod/app",
		"3:cpu,memory:/pod/app\n":    root + "/memory/pod/app",
		"3:memory:/kubepods/other\n": root + "/memory",
		"3:memory:/../pod\n":         root + "/memory",
		"3:memory:/\n":               root + "/memory",
		"":                           root + "/memory",
	} {
		if got := controllerFolder(opened(t, root+"/memory"), "memory", text).Name(); got != folder {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestNearItsCPULimitIsAFindingThrottledOrNot(t *testing.T) {
	for _, each := range []struct {
		name   string
		used   int64
		limit  int64
		sample time.Duration
		found  bool
	}{
		{"at 95 %", 950, 1000, time.Second, true}, {"at 90 %", 900, 1000, time.Second, false}, {"without a limit", 950, 0, time.Second, false},
		{"without a sample", 950, 1000, 0, false},
	} {
		part := rules.NewPart("cpu")
		nearLimit(&Look{cpuLimit: each.limit, Settings: Settings{Sample: each.sample}}, part, each.used)
		if (len(part.Findings) == 1) != each.found {
			t.Errorf("%s: %+v", each.name, part.Findings)
		}
	}
}

func TestAChartHasItsPoints(t *testing.T) {
	root := folderWith(t, map[string]string{"cpu.stat": "usage_usec 5\nnr_periods 4\nnr_throttled 1\n", "memory.current": "30\n", "memory.stat": "inactive_file 10\n"})
	var read chart
	// A busy machine needs longer for as many readings.
	for wait := 60 * time.Millisecond; len(read.memory) < fewReadings && wait < time.Minute; wait *= 4 {
		stop := make(chan struct{})
		time.AfterFunc(wait, func() { close(stop) })
		read = (cgroup{version: 2, memory: opened(t, root), cpu: opened(t, root)}).watch(5*time.Millisecond, stop)
	}
	if len(read.memory) < fewReadings || read.memory[0][1] != 20 || read.cpu[0][1] != 0 || len(read.throttled) != 0 {
		t.Errorf("%+v", read)
	}
	lines := read.series(500, 0)
	if len(lines) != 2 || *lines[0].Limit != 500 || lines[1].Limit != nil || len(lines[0].Points) > readings {
		t.Errorf("%+v", lines)
	}
}
