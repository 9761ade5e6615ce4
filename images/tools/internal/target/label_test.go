package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	runtimes  = "cri-containerd.apparmor.d (enforce)"
	container = "system_u:system_r:container_t:s0:c123,c456"
)

func TestALabelIsReadFromTheModuleThatHasOne(t *testing.T) {
	for name, each := range map[string]struct {
		files map[string]string
		want  string
	}{
		"AppArmor":                     {map[string]string{"attr/current": runtimes + "\n"}, runtimes},
		"AppArmor beside another":      {map[string]string{"attr/current": "system_u:object_r:x:s0", "attr/apparmor/current": "unconfined\n"}, "unconfined"},
		"SELinux":                      {map[string]string{"attr/current": container + "\x00"}, container},
		"none":                         {map[string]string{"attr/current": ""}, ""},
		"no such file, as in a gVisor": {nil, ""},
		"one with a line in it":        {map[string]string{"attr/current": "a\nb (enforce)\n"}, "a?b (enforce)"},
		"a very long one":              {map[string]string{"attr/current": strings.Repeat("a", 4000)}, strings.Repeat("a", maxLabel)},
	} {
		folder := t.TempDir()
		for file, text := range each.files {
			write(t, filepath.Join(folder, "7"), file, text)
		}
		if got := FS(folder).Label("7"); got != each.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// blind is a target that is not readable, in a /proc where its label is this; its files are root's where it made itself unreadable.
func blind(t *testing.T, label string, sealed bool, it Status) *Target {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "1"), "attr/current", label+"\n")
	write(t, filepath.Join(folder, "1"), "environ", "")
	owner := it.UID
	if sealed {
		owner = 0
	}
	if err := os.Chown(filepath.Join(folder, "1", "environ"), owner, -1); err != nil {
		t.Skip("only root gives files to others")
	}
	return &Target{Process: Process{PID: 1, Status: it}, fs: FS(folder)}
}

func TestWhatLacksIsWhatTheKernelRefusesFor(t *testing.T) {
	const (
		restricted = uint64(0)
		baseline   = uint64(0xa80425fb)
		general    = baseline | 1<<19
		sysadmin   = uint64(1<<41 - 1)
	)
	app := Status{UID: 10001, GID: 10001}
	root := Status{Permitted: baseline}
	all := Status{Permitted: sysadmin}
	weak := []string{"general", "sysadmin"}
	only := []string{"sysadmin"}
	for name, each := range map[string]struct {
		self   Self
		it     Status
		theirs string
		sealed bool
		lacks  string
		helps  []string
	}{
		"AppArmor, another profile, the same user": {Self{10001, 10001, restricted, runtimes}, app, "unconfined", false,
			"the AppArmor profile of the target: its own is unconfined, ours " + runtimes, only},
		"AppArmor, another profile, as general": {Self{0, 0, general, runtimes}, app, "my-app (enforce)", false,
			"the AppArmor profile of the target: its own is my-app (enforce), ours " + runtimes, only},
		"AppArmor, a privileged target":             {Self{0, 0, general, runtimes}, all, "unconfined", false, "the AppArmor profile of the target: ", only},
		"AppArmor, another profile, another user":   {Self{65532, 65532, restricted, runtimes}, app, "unconfined", false, "the AppArmor profile of the target: ", only},
		"AppArmor, ours only complains":             {Self{65532, 65532, restricted, "cri (complain)"}, app, "unconfined", false, "the target's own uid:gid 10001:10001", append([]string{"identity"}, weak...)},
		"AppArmor, the same profile, another user":  {Self{65532, 65532, restricted, runtimes}, app, runtimes, false, "the target's own uid:gid 10001:10001", append([]string{"identity"}, weak...)},
		"AppArmor, the same profile, the same user": {Self{10001, 10001, restricted, runtimes}, app, runtimes, false, "ptrace access: the node's security module refuses it, under " + runtimes, only},
		"the same profile, a closed program":        {Self{10001, 10001, restricted, runtimes}, app, runtimes, true, "SYS_PTRACE: the target made itself unreadable", weak},
		"no module, a closed program":               {Self{10001, 10001, restricted, ""}, app, "", true, "SYS_PTRACE: the target made itself unreadable", weak},
		"SELinux, other categories": {Self{10001, 10001, restricted, container}, app, "system_u:system_r:container_t:s0:c1,c2", false,
			"the SELinux label of the target: its own is system_u:system_r:container_t:s0:c1,c2, ours " + container, only},
		"SELinux, a privileged target": {Self{0, 0, general, container}, all, "system_u:system_r:spc_t:s0", false, "the SELinux label of the target: ", only},
		"SELinux, ours may do all":     {Self{0, 0, baseline, "system_u:system_r:spc_t:s0"}, app, container, false, "the target's own uid:gid", append([]string{"identity"}, weak...)},
		"capabilities":                 {Self{0, 0, baseline, ""}, all, "", false, "SYS_PTRACE: the target has capabilities that we lack", weak},
		"root beside a stranger":       {Self{65532, 65532, restricted, ""}, root, "", false, "SYS_PTRACE: the target has capabilities that we lack", weak},
		"refused with SYS_PTRACE":      {Self{0, 0, general, ""}, app, "", false, "ptrace access: the node refuses it, although we have SYS_PTRACE", only},
		"refused with everything":      {Self{0, 0, sysadmin, "unconfined"}, app, "unconfined", false, "ptrace access: the node refuses it, although we have SYS_PTRACE", nil},
	} {
		lack := blind(t, each.theirs, each.sealed, each.it).Blindness(each.self)
		if lack == nil || !strings.HasPrefix(lack.Lacks, each.lacks) || !slices.Equal(lack.Helps, each.helps) {
			t.Errorf("%s: %+v", name, lack)
		}
	}
}

func TestNoProfileIsAdvisedThatAddsNothing(t *testing.T) {
	for _, permitted := range []uint64{0, 1, 0xa80425fb, 1<<41 - 1} {
		for _, uid := range []int{0, 10001} {
			for _, labels := range [][2]string{{"", ""}, {runtimes, runtimes}, {runtimes, "unconfined"}, {"unconfined", runtimes}, {container, "x:x:y:s0"}} {
				for yama := range 4 {
					for _, readable := range []bool{false, true} {
						it := blind(t, labels[1], false, Status{UID: uid, GID: uid, Permitted: permitted})
						it.Yama, it.Readable = yama, readable
						for _, effective := range []uint64{1 << 19, 1<<41 - 1} {
							self := Self{UID: 0, GID: 0, Effective: effective, Label: labels[0]}
							for _, lack := range []*Lack{it.Blindness(self), it.Attach(self)} {
								if lack != nil && (slices.Contains(lack.Helps, "general") || effective > 1<<40 && len(lack.Helps) > 0 && slices.Contains(lack.Helps, "sysadmin")) {
									t.Errorf("%o as %d %v, Yama %d, with %x: %+v", permitted, uid, labels, yama, effective, lack)
								}
							}
						}
					}
				}
			}
		}
	}
}

func TestAHiddenProcIsToldApartFromAContainerThatNobodyNamed(t *testing.T) {
	for name, each := range map[string]struct {
		processes []one
		helps     string
	}{
		"hidden":       {[]one{us}, "[general sysadmin]"},
		"without name": {[]one{us, {pid: 1, name: "pause", cgroup: "0::/../pause\n"}}, "[target]"},
	} {
		_, err := proc(t, each.processes...).find(40, "app")
		if got := fmt.Sprint(HelpsFor(err)); !errors.Is(err, ErrNoTarget) || got != each.helps || strings.Contains(err.Error(), "/proc hides") != (name == "hidden") {
			t.Errorf("%s: %v %s", name, err, got)
		}
	}
}
