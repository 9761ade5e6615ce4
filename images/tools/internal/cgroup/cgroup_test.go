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

// The trees are what a container's own mount of cgroups shows on each kind of node, made after the kernel's documentation.
func TestTheNumbersAreFoundInTheTreeOfEachKindOfNode(t *testing.T) {
	v2 := map[string]string{"cgroup.controllers": "cpu memory", "cgroup.procs": "1", "cgroup.type": "domain", "memory.current": "9", "cpu.stat": "usage_usec 5\n"}
	below := func(folder string) map[string]string {
		all := map[string]string{"cgroup.controllers": "cpu memory", "cgroup.procs": "1", "memory.stat": "anon 7", "cpu.stat": "usage_usec 999\n"}
		for name, text := range v2 {
			all[folder+name] = text
		}
		return all
	}
	v1 := func(inner, more string) map[string]string {
		all := map[string]string{"memory/" + inner + "memory.usage_in_bytes": "9", "cpuacct/" + inner + "cpuacct.usage": "5000"}
		if more != "" {
			all["memory/"+more], all["cpuacct/"+more], all["memory/memory.usage_in_bytes"], all["cpuacct/cpuacct.usage"] = "", "", "999", "999000"
		}
		return all
	}
	const slice = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a.slice/cri-containerd-c1.scope/"
	for name, each := range map[string]struct {
		files map[string]string
		text  string
		used  Amount
		cpu   Amount
	}{
		"version 2, a namespace of its own":            {v2, "0::/../cri-containerd-c1.scope\n", Amount{9, true}, Amount{5, true}},
		"version 2, the node's namespace, systemd":     {below(slice), "0::/" + slice + "\n", Amount{9, true}, Amount{5, true}},
		"version 2, kind":                              {below("kubelet.slice/kubelet-kubepods.slice/" + "c1.scope/"), "0::/kubelet.slice/kubelet-kubepods.slice/c1.scope\n", Amount{9, true}, Amount{5, true}},
		"version 2, the node's tree and a hidden path": {below(slice), "0::/../../../../elsewhere\n", Amount{}, Amount{}},
		"version 1, bound to its own group":            {v1("", ""), "4:memory:/kubepods/burstable/pod1a/c1\n3:cpu,cpuacct:/kubepods/burstable/pod1a/c1\n", Amount{9, true}, Amount{5, true}},
		"version 1, the node's tree, systemd":          {v1(slice, "release_agent"), "4:memory:/" + slice + "\n3:cpu,cpuacct:/" + slice + "\n", Amount{9, true}, Amount{5, true}},
		"version 1, the node's tree and a hidden path": {v1("", "release_agent"), "4:memory:/../x\n3:cpu,cpuacct:/../x\n", Amount{}, Amount{}},
		"none, as in a Kata or a gVisor without files": {map[string]string{"x": ""}, "", Amount{}, Amount{}},
	} {
		got := in(opened(t, folderWith(t, each.files)), each.text)
		if used, cpu := got.ReadMemory().Used, got.ReadCPU().Usage; used != each.used || cpu.Known != each.cpu.Known || cpu.Known && cpu != each.cpu {
			t.Errorf("%s: version %d, %+v, %+v", name, got.Version, used, cpu)
		}
	}
}

func TestALimitIsANumberNoneOrNotVisible(t *testing.T) {
	for text, want := range map[string]Amount{
		"50000 100000\n": {500, true}, "max 100000\n": {0, true}, "max\n": {0, true}, "": {}, "50000\n": {}, "50000 0\n": {}, "x 100000\n": {},
	} {
		if got := At(folderWith(t, map[string]string{"cpu.stat": "", "cpu.max": text})).CPULimit(); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for text, want := range map[string]bool{"max\n": true, "-1\n": true, "9223372036854771712\n": true, "104857600\n": false, "": false, "1e9\n": false} {
		if got := At(folderWith(t, map[string]string{"memory.current": "1", "memory.max": text})).Unlimited(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestWhatIsReadAgainIsCountedInThePagesOrBytesOfTheKernel(t *testing.T) {
	felt := func(files map[string]string) Felt { return At(folderWith(t, files)).ReadFelt() }
	second := func(stat string) map[string]string {
		return map[string]string{"memory.current": "1", "memory.stat": stat}
	}
	first := func(stat string) map[string]string {
		return map[string]string{"memory/memory.usage_in_bytes": "1", "memory/memory.stat": stat}
	}
	for name, each := range map[string]struct {
		before, after map[string]string
		want          Amount
	}{
		"version 2":           {second("workingset_refault_file 1\nworkingset_refault_anon 2"), second("workingset_refault_file 4\nworkingset_refault_anon 3"), Amount{4 * pageSize, true}},
		"before Linux 5.9":    {second("workingset_refault 1"), second("workingset_refault 3"), Amount{2 * pageSize, true}},
		"version 1":           {first("workingset_refault_file 9\ntotal_workingset_refault_file 1"), first("total_workingset_refault_file 4"), Amount{3 * pageSize, true}},
		"version 1, in bytes": {first("total_workingset_refault_file 4096"), first("total_workingset_refault_file 12288"), Amount{8192, true}},
		"version 1, in pages that look like bytes":   {first("total_workingset_refault_file 4096"), first("total_workingset_refault_file 4097"), Amount{pageSize, true}},
		"what is not counted":                        {second("anon 1"), second("anon 1"), Amount{}},
		"a count that went back, as of a new cgroup": {second("workingset_refault 9"), second("workingset_refault 3"), Amount{}},
	} {
		got := felt(each.after).ReadAgain(felt(each.before))
		if got.Known != each.want.Known || got.Known && got != each.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
