package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kdebug/tools/internal/target"
)

// made is a process of a /proc of a test's own.
type made struct {
	pid, parent int
	state       string
	cgroup      string
	slots       int
	command     string
	// goesOn is whether only its first thread has ended.
	goesOn bool
}

func procWith(t *testing.T, processes ...made) target.FS {
	t.Helper()
	root := t.TempDir()
	for _, each := range processes {
		folder := filepath.Join(root, fmt.Sprint(each.pid))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		state := each.state
		if state == "" {
			state = "S (sleeping)"
		}
		threads := 2
		if strings.HasPrefix(state, "Z") && !each.goesOn {
			threads = 1
		}
		status := fmt.Sprintf("Name:\tp%d\nState:\t%s\nPPid:\t%d\nUid:\t1\t1\nGid:\t1\t1\nThreads:\t%d\nVmRSS:\t2048 kB\nFDSize:\t%d\n", each.pid, state, each.parent, threads, each.slots)
		for name, text := range map[string]string{"status": status, "cgroup": "0::" + each.cgroup + "\n", "cmdline": each.command} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return target.FS(root)
}

func pidsOf(living []process) []int {
	var pids []int
	for _, each := range living {
		pids = append(pids, each.pid)
	}
	return pids
}

func TestTheTreeIsThatOfTheTargetsCgroup(t *testing.T) {
	found := readTree(procWith(t,
		made{pid: 1, cgroup: "/pod/app"},
		made{pid: 7, parent: 1, cgroup: "/pod/app/inner"},
		made{pid: 8, parent: 1, cgroup: "/pod/apple"},
		// An orphan of another debug container.
		made{pid: 9, parent: 1, cgroup: "/pod/debug"},
		made{pid: 10, parent: 1, cgroup: "/", state: "Z (zombie)"},
		made{pid: 11, parent: 1, cgroup: "/", state: "Z (zombie)", goesOn: true},
	), 1)
	if got := pidsOf(found.living); !slices.Equal(got, []int{1, 7}) || found.count != 4 || found.zombies != 1 || found.threads != 7 {
		t.Errorf("living %v of %d, %d zombies, %d threads", got, found.count, found.zombies, found.threads)
	}
}

func TestTheTreeIsThatOfTheDescendantsWhereNoCgroupIsVisible(t *testing.T) {
	found := readTree(procWith(t, made{pid: 5}, made{pid: 6, parent: 5}, made{pid: 7, parent: 6}, made{pid: 8, parent: 4}, made{pid: 9, parent: 9}), 5)
	if got := pidsOf(found.living); !slices.Equal(got, []int{5, 6, 7}) {
		t.Errorf("living %v", got)
	}
}

func TestWhoWaitsForADiskIsCounted(t *testing.T) {
	processes := []made{{pid: 1}}
	for pid := range 7 {
		processes = append(processes, made{pid: pid + 2, parent: 1, state: "D (disk sleep)"})
	}
	if found := readTree(procWith(t, processes...), 1); found.waiting != 7 {
		t.Errorf("%d wait", found.waiting)
	}
}

func TestTheFullestOfVeryManyProcessesAreChosen(t *testing.T) {
	processes := []made{{pid: 1, slots: 1}}
	for pid := range 100 {
		processes = append(processes, made{pid: pid + 2, parent: 1, slots: pid})
	}
	found := readTree(procWith(t, processes...), 1)
	if len(found.pids) != maxListed || found.pids[0] != 1 || found.pids[1] != 101 {
		t.Errorf("%d chosen: %v", len(found.pids), found.pids)
	}
}

func TestATitleIsWhatAProgramWroteOverItsArguments(t *testing.T) {
	for command, title := range map[string]string{
		"postgres: shop shop [local] UPDATE waiting\x00\x00\x00\x00": "postgres: shop shop [local] UPDATE waiting",
		"nginx: worker process\x00":                                  "nginx: worker process",
		"redis-server 127.0.0.1:6379":                                "redis-server 127.0.0.1:6379",
		"gunicorn: worker [app]   \x00":                              "gunicorn: worker [app]",
		"curl\x00-u\x00user:secret\x00":                              "",
		"sleep\x00":                                                  "",
		"/opt/my program/run\x00":                                    "",
		"":                                                           "",
		"a: b\nc\x1b[31m\x00":                                        "a: b c?[31m",
		"worker: " + strings.Repeat("x", 200) + "\x00":               "worker: " + strings.Repeat("x", maxTitle-11) + "...",
	} {
		fs := procWith(t, made{pid: 3, command: command})
		if got := titleOf(fs.Cmdline(3)); got != title {
			t.Errorf("%q has the title %q, not %q", command, got, title)
		}
	}
}
