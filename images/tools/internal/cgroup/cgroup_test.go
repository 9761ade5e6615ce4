package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

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

// rootedIn is a target whose root is a folder.
func rootedIn(t *testing.T, root string) *target.Target {
	t.Helper()
	self, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	proc := folderWith(t, map[string]string{fmt.Sprint(os.Getpid()) + "/cgroup": "0::/\n"})
	if err := os.Symlink(root, filepath.Join(proc, fmt.Sprint(os.Getpid()), "root")); err != nil {
		t.Fatal(err)
	}
	return self.In(target.FS(proc))
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
	if found := Of(rootedIn(t, folder)); found.Version != 0 {
		t.Errorf("by a folder: %+v", found.ReadMemory())
	}
	file := folderWith(t, map[string]string{"sys/fs/cgroup/cpu.stat": "usage_usec 5\n"})
	link(t, others+"/memory.current", file+"/sys/fs/cgroup/memory.current")
	if found := Of(rootedIn(t, file)); found.Version != 2 || found.ReadMemory().Used.Known {
		t.Errorf("by a file: %+v", found.ReadMemory())
	}
}

func TestAPipeIsNoNumberOfACgroup(t *testing.T) {
	root := folderWith(t, map[string]string{"sys/fs/cgroup/x": ""})
	if err := syscall.Mkfifo(root+"/sys/fs/cgroup/memory.current", 0o600); err != nil {
		t.Fatal(err)
	}
	if found := Of(rootedIn(t, root)); found.Version != 0 {
		t.Errorf("%+v", found)
	}
}

func TestAControllerMayBeALinkWithinTheTargetsRoot(t *testing.T) {
	root := folderWith(t, map[string]string{"sys/fs/cgroup/cpu,cpuacct/cpuacct.usage": "5000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "9\n"})
	for _, name := range []string{"cpu", "cpuacct"} {
		link(t, "cpu,cpuacct", root+"/sys/fs/cgroup/"+name)
	}
	found := Of(rootedIn(t, root))
	if found.Version != 1 || found.ReadMemory().Used.Value != 9 || found.ReadCPU().Usage.Value != 5 {
		t.Errorf("%+v %+v %+v", found, found.ReadMemory(), found.ReadCPU())
	}
}

func TestANumberOfACgroupIsAWholeOneOrUnknown(t *testing.T) {
	for text, want := range map[string]Amount{
		"0\n": {0, true}, "12\n": {12, true}, "max\n": {}, "-1\n": {}, "": {}, "9223372036854771712\n": {}, "999999999999999999\n": {999999999999999999, true},
	} {
		if got := Number(opened(t, folderWith(t, map[string]string{"n": text})), "n"); got != want {
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

func TestAKillOfTheWholeGroupCountsEachProcessOnce(t *testing.T) {
	for name, each := range map[string]struct {
		files           map[string]string
		kills, together int64
	}{
		"one process":               {map[string]string{"memory.events": "oom_kill 2\noom_group_kill 1\n"}, 1, 1},
		"one that was gone at once": {map[string]string{"memory.events": "oom_kill 1\noom_group_kill 1\n"}, 1, 1},
		"three":                     {map[string]string{"memory.events": "oom_kill 4\noom_group_kill 1\n"}, 3, 1},
		"one alone":                 {map[string]string{"memory.events": "oom_kill 2\noom_group_kill 0\n"}, 2, 0},
		"before Linux 5.17":         {map[string]string{"memory.events": "oom_kill 4\n", "memory.oom.group": "1\n"}, 3, 1},
		"before it, none":           {map[string]string{"memory.events": "oom_kill 0\n", "memory.oom.group": "1\n"}, 0, 0},
	} {
		each.files["memory.current"] = "1\n"
		if got := At(folderWith(t, each.files)).ReadMemory(); got.Kills.Value != each.kills || got.Together.Value != each.together {
			t.Errorf("%s: %d killed, %d times together", name, got.Kills.Value, got.Together.Value)
		}
	}
}
