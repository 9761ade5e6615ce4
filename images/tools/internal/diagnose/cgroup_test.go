package diagnose

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/rules"
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
		read = watchCgroup(cgroup.Group{Version: 2, Memory: opened(t, root), CPU: opened(t, root)}, 5*time.Millisecond, stop)
	}
	if len(read.memory) < fewReadings || read.memory[0][1] != 20 || read.cpu[0][1] != 0 || len(read.throttled) != 0 {
		t.Errorf("%+v", read)
	}
	lines := read.series(500, 0)
	if len(lines) != 2 || *lines[0].Limit != 500 || lines[1].Limit != nil || len(lines[0].Points) > readings {
		t.Errorf("%+v", lines)
	}
}

// Every start under a limit is throttled, and of an idle program nothing else is counted.
func TestThrottlingSinceTheStartNeedsAMinuteThatRan(t *testing.T) {
	number := func(value int64) cgroup.Amount { return cgroup.Amount{Value: value, Known: true} }
	for periods, found := range map[int64]bool{31: false, 599: false, 600: true} {
		part := rules.NewPart("cpu")
		now := cgroup.CPU{Periods: number(periods), Throttled: number(periods / 2)}
		(&cpuSection{before: now}).throttling(&Look{}, part, now)
		if (len(part.Findings) == 1) != found {
			t.Errorf("%d: %+v", periods, part.Findings)
		}
	}
}

// A pod without CPU needs longer than the whole sample to begin.
func TestWhatBeganLastIsSampledForASecondToo(t *testing.T) {
	for _, each := range []struct{ sample, began, want time.Duration }{
		{3 * time.Second, 100 * time.Millisecond, 2900 * time.Millisecond}, {3 * time.Second, 9 * time.Second, time.Second}, {0, 9 * time.Second, 0},
	} {
		if got := restOf(each.sample, each.began); got != each.want {
			t.Errorf("%+v: %v", each, got)
		}
	}
}
