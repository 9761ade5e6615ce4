package target

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// one is a process of a made /proc.
type one struct {
	pid, parent          int
	name, state, cgroup  string
	uid, gid             int
	permitted, effective uint64
	caught               uint64
	start, used          int
	command              []string
	environ              string
	mount                string
	exe                  string
	maps                 string
	root                 string
	// tasks are the numbers of its threads; how many it has is then their number.
	tasks []int
}

func proc(t *testing.T, processes ...one) FS {
	t.Helper()
	folder := t.TempDir()
	for _, p := range processes {
		at := filepath.Join(folder, fmt.Sprint(p.pid))
		if p.state == "" {
			p.state = "S (sleeping)"
		}
		write(t, at, "status", fmt.Sprintf("Name:\t%s\nState:\t%s\nPPid:\t%d\nUid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nVmRSS:\t  512 kB\nThreads:\t%d\nSigCgt:\t%016x\nCapPrm:\t%016x\nCapEff:\t%016x\n",
			p.name, p.state, p.parent, p.uid, p.uid, p.uid, p.uid, p.gid, p.gid, p.gid, p.gid, cmp.Or(len(p.tasks), 3), p.caught, p.permitted, p.effective))
		write(t, at, "stat", fmt.Sprintf("%d (a) b) S %d 0 0 0 0 0 0 0 0 0 %d 1 0 0 0 0 1 0 %d 0 0", p.pid, p.parent, p.used, p.start))
		write(t, at, "cgroup", p.cgroup)
		write(t, at, "mountinfo", p.mount)
		for _, task := range p.tasks {
			write(t, at, fmt.Sprintf("task/%d/comm", task), p.name)
		}
		if p.command != nil {
			write(t, at, "cmdline", strings.Join(p.command, "\x00")+"\x00")
		}
		if p.environ != "" {
			write(t, at, "environ", p.environ)
		}
		if p.exe != "" {
			link(t, p.exe, filepath.Join(at, "exe"))
			write(t, at, "maps", p.maps)
		}
		if p.root != "" {
			link(t, p.root, filepath.Join(at, "root"))
		}
	}
	return FS(folder)
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

const (
	theirs = "0::/../app\n"
	ours   = "0::/\n"
)

func kubelet(container string) string {
	return "700 600 8:1 / / rw - overlay overlay rw\n701 700 8:1 /var/lib/kubelet/pods/0b/containers/" + container + "/7f /dev/termination-log rw - ext4 /dev/vda rw\n"
}

var us = one{pid: 40, name: "stacks", cgroup: ours, uid: 65532, gid: 65532, start: 90, command: []string{"/stacks"}}

func TestTheTargetIsProcessOne(t *testing.T) {
	root := t.TempDir()
	write(t, root, "usr/lib/jvm/release", "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n")
	fs := proc(t, us, one{pid: 1, name: "java", cgroup: theirs, uid: 10001, gid: 10001, caught: 1 << 2, command: []string{"java", "-jar", "a.jar"}, mount: kubelet("app"), exe: "/usr/lib/jvm/bin/java", root: root},
		one{pid: 30, name: "sh", cgroup: "0::/../debugger\n", start: 50, environ: "KDEBUG_RUN=kd-1\x00"})
	target, err := fs.find(40, "app")
	if err != nil {
		t.Fatal(err)
	}
	if target.PID != 1 || target.Runtime != JVM || target.Version != "17.0.15" || target.Container != "app" || !target.Readable || target.UID != 10001 || len(target.Processes) != 1 {
		t.Errorf("%+v", target)
	}
	if !target.Catches(syscall.SIGQUIT) || target.Catches(syscall.SIGUSR1) {
		t.Error("the caught signals are read wrongly")
	}
}

func TestAProcessWithoutItsFirstThreadIsNamed(t *testing.T) {
	// Its first thread shows neither its container nor, on some kernels, its cgroup; its other thread, 3, shows both, and no list of processes has it.
	evil := one{pid: 1, name: "evil died. ✅", state: "Z (zombie)", cgroup: "0::/../..\n", tasks: []int{1, 3}}
	other := one{pid: 3, parent: 2, name: "evil", cgroup: theirs, mount: kubelet("app"), start: 5}
	zombie := one{pid: 5, name: "dead", state: "Z (zombie)", cgroup: theirs, tasks: []int{5}}
	for _, wanted := range []string{"app", ""} {
		_, err := proc(t, us, evil, other, zombie).find(40, wanted)
		if !errors.Is(err, ErrNoTarget) || !strings.Contains(err.Error(), "the first thread of process 1 (“evil died. ✅”) has ended while others go on") || HelpsFor(err) != nil {
			t.Errorf("%q: %v", wanted, err)
		}
	}
	if _, _, err := proc(t, us, evil, other).findFirst(40, "app"); err == nil || !strings.Contains(err.Error(), "the first thread") {
		t.Errorf("%v", err)
	}
	pause := one{pid: 1, name: "pause", cgroup: "0::/../pause\n"}
	for _, nothing := range []FS{proc(t, us, pause, zombie), proc(t, us, pause)} {
		if _, err := nothing.find(40, "app"); err != ErrNoTarget || len(HelpsFor(err)) == 0 { //nolint:errorlint // Nothing may wrap it.
			t.Errorf("%v", err)
		}
	}
	if _, err := proc(t, us, evil, other).find(40, "db"); err != ErrNoTarget { //nolint:errorlint // As above.
		t.Errorf("%v", err)
	}
}

func TestNobodyIsNoTarget(t *testing.T) {
	if _, err := proc(t, us).find(40, ""); !errors.Is(err, ErrNoTarget) {
		t.Errorf("%v", err)
	}
	// Process 1 is our own where no target container was named.
	own := us
	own.pid = 1
	if _, err := proc(t, own).find(1, ""); !errors.Is(err, ErrNoTarget) {
		t.Errorf("%v", err)
	}
}

func TestTheNamedContainerIsFoundAmongSeveral(t *testing.T) {
	fs := proc(t, us,
		one{pid: 1, name: "pause", cgroup: "0::/../pause\n"},
		one{pid: 7, name: "envoy", cgroup: "0::/../envoy\n", start: 1, mount: kubelet("envoy")},
		one{pid: 8, name: "python3.11", cgroup: "0::/../web\n", start: 2, mount: kubelet("web"), exe: "/usr/bin/python3.11"})
	for wanted, pid := range map[string]int{"web": 8, "envoy": 7, "": 7} {
		target, err := fs.find(40, wanted)
		if err != nil || target.PID != pid {
			t.Errorf("%q: %v %v", wanted, target, err)
		}
	}
}

func TestAnotherContainerNeverTakesThePlaceOfTheNamedOne(t *testing.T) {
	pause := one{pid: 1, name: "pause", cgroup: "0::/../pause\n"}
	vault := one{pid: 7, name: "vault", cgroup: "0::/../vault\n", start: 1, mount: kubelet("vault")}
	for what, other := range map[string]one{
		"gone":     {pid: 8, name: "gone", state: "Z (zombie)", cgroup: "0::/../hider\n", start: 2},
		"chrooted": {pid: 8, name: "hider", cgroup: "0::/../hider\n", start: 0, mount: "700 600 8:1 / / rw - overlay overlay rw\n"},
		"paused":   {pid: 8, name: "pause", cgroup: "0::/../hider\n", start: 0},
		"other":    {pid: 8, name: "web", cgroup: "0::/../web\n", start: 2, mount: kubelet("web")},
	} {
		// The vault is known even where it hides itself.
		hidden := vault
		hidden.environ = "KDEBUG_RUN=x\x00"
		for _, beside := range []one{vault, hidden} {
			fs := proc(t, us, pause, beside, other)
			if target, err := fs.find(40, "hider"); !errors.Is(err, ErrNoTarget) {
				t.Errorf("%s: %+v %v", what, target, err)
			}
			if target, _, err := fs.findFirst(40, "hider"); !errors.Is(err, ErrNoTarget) {
				t.Errorf("%s: %+v %v", what, target, err)
			}
		}
	}
}

func TestTheNamedContainerCannotHide(t *testing.T) {
	for what, hider := range map[string]one{
		"as pause":        {name: "pause"},
		"as autodiagnose": {name: "autodiagnose"},
		"as a run":        {name: "hider", environ: "KDEBUG_RUN=kd-1\x00"},
	} {
		hider.pid, hider.cgroup, hider.start, hider.mount = 8, "0::/../hider\n", 2, kubelet("hider")
		fs := proc(t, us,
			one{pid: 1, name: "pause", cgroup: "0::/../pause\n"},
			one{pid: 7, name: "vault", cgroup: "0::/../vault\n", start: 1, mount: kubelet("vault")}, hider)
		if target, err := fs.find(40, "hider"); err != nil || target.PID != 8 || target.Container != "hider" {
			t.Errorf("%s: %+v %v", what, target, err)
		}
		target, neighbours, err := fs.findFirst(40, "hider")
		if err != nil || target.PID != 8 || len(neighbours) != 1 || neighbours[0].Container != "hider" {
			t.Errorf("%s: %+v %v %v", what, target, neighbours, err)
		}
	}
}

func TestTheNamedContainerCannotHideAmongTheNodesProcesses(t *testing.T) {
	own := us
	own.cgroup = "0::/kubepods/pod1/us\n"
	fs := proc(t, own,
		one{pid: 1, name: "systemd", cgroup: "0::/init\n"},
		one{pid: 2, name: "kthreadd", cgroup: "0::/\n"},
		one{pid: 3, parent: 1, name: "other", cgroup: "0::/kubepods/pod2/other\n", mount: kubelet("other")},
		one{pid: 4, parent: 1, name: "hider", cgroup: "0::/kubepods/pod2/hider\n", mount: kubelet("hider")},
		one{pid: 5, parent: 1, name: "vault", cgroup: "0::/kubepods/pod1/vault\n", start: 1, mount: kubelet("vault")},
		one{pid: 6, parent: 1, name: "pause", cgroup: "0::/kubepods/pod1/hider\n", start: 2, mount: kubelet("hider")})
	if target, err := fs.find(40, "hider"); err != nil || target.PID != 6 {
		t.Errorf("%+v %v", target, err)
	}
	// Another pod's container of that name is never taken, nor does one of ours stand in for it.
	if target, err := fs.find(40, "other"); !errors.Is(err, ErrNoTarget) {
		t.Errorf("%+v %v", target, err)
	}
}

func TestTheOldestIsTakenWhereNoContainerIsKnown(t *testing.T) {
	fs := proc(t, us,
		one{pid: 1, name: "pause", cgroup: "0::/../pause\n"},
		one{pid: 7, name: "envoy", cgroup: "0::/../envoy\n", start: 2},
		one{pid: 8, name: "web", cgroup: "0::/../web\n", start: 1},
		one{pid: 9, name: "sh", cgroup: "0::/../debugger\n", start: 3, mount: kubelet("kdebug-abcdefghij23")})
	for _, wanted := range []string{"web", ""} {
		if target, err := fs.find(40, wanted); err != nil || target.PID != 8 {
			t.Errorf("%q: %+v %v", wanted, target, err)
		}
	}
	// Without cgroups, process 1 is taken unless it is known to be another container's.
	for mount, found := range map[string]bool{"": true, kubelet("app"): true, kubelet("vault"): false} {
		fs := proc(t, us, one{pid: 1, name: "java", mount: mount})
		if target, err := fs.find(40, "app"); (err == nil) != found {
			t.Errorf("%q: %+v %v", mount, target, err)
		}
	}
}

func TestADebugContainerIsNoTargetUnlessItIsNamed(t *testing.T) {
	debugger := one{pid: 7, name: "sh", cgroup: "0::/../debugger\n", start: 1, mount: kubelet("kdebug-abcdefghij23")}
	running := debugger
	running.environ, running.mount = "KDEBUG_RUN=kd-1\x00", kubelet("debugger")
	alone := running
	alone.pid, alone.cgroup = 1, ""
	for _, each := range []one{debugger, running, alone} {
		if target, err := proc(t, us, each).find(40, ""); !errors.Is(err, ErrNoTarget) {
			t.Errorf("%+v %v", target, err)
		}
	}
	if target, err := proc(t, us, debugger).find(40, "kdebug-abcdefghij23"); err != nil || target.PID != 7 {
		t.Errorf("%+v %v", target, err)
	}
	if isOfKdebug("kdebug-server") || isOfKdebug("kdebug-abcdef-hij23") || isOfKdebug("app") {
		t.Error("a container of somebody else counts as kdebug's")
	}
}

func TestAContainersProcessMayBeCalledPause(t *testing.T) {
	fs := proc(t, us,
		one{pid: 1, name: "pause", cgroup: "0::/../pause\n"},
		one{pid: 7, name: "pause", cgroup: "0::/../app\n", start: 1, mount: kubelet("app")})
	if target, err := fs.find(40, ""); err != nil || target.PID != 7 {
		t.Errorf("%+v %v", target, err)
	}
}

func TestOnlyTheOwnPodAmongTheNodesProcesses(t *testing.T) {
	own := us
	own.cgroup = "0::/kubepods/pod1/us\n"
	fs := proc(t, own,
		one{pid: 1, name: "systemd", cgroup: "0::/init\n"},
		one{pid: 2, name: "kthreadd", cgroup: "0::/\n"},
		one{pid: 5, parent: 1, name: "java", cgroup: "0::/kubepods/pod2/app\n", start: 1},
		one{pid: 6, parent: 1, name: "node", cgroup: "0::/kubepods/pod1/app\n", start: 2, exe: "/usr/bin/node"})
	target, err := fs.find(40, "")
	if err != nil || target.PID != 6 || target.Runtime != Node {
		t.Errorf("%+v %v", target, err)
	}
}

func TestTheRuntimeBehindAShellMattersMost(t *testing.T) {
	fs := proc(t, us,
		one{pid: 1, name: "sh", cgroup: theirs, command: []string{"sh", "-c", "python3 app.py"}, exe: "/bin/dash"},
		one{pid: 7, parent: 1, name: "gunicorn", cgroup: theirs, used: 5, command: []string{"gunicorn"}, exe: "/usr/local/bin/python3.11"},
		one{pid: 8, parent: 7, name: "gunicorn", cgroup: theirs, used: 900, command: []string{"gunicorn"}, exe: "/usr/local/bin/python3.11"},
		one{pid: 9, parent: 7, name: "gone", state: "Z (zombie)", cgroup: theirs},
		one{pid: 10, parent: 1, name: "uwsgi", cgroup: theirs + "", command: []string{"uwsgi"}, exe: "/opt/uwsgi", maps: "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libpython3.9.so.1.0\n"})
	target, err := fs.find(40, "")
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for _, process := range target.Processes {
		order = append(order, process.PID)
	}
	if fmt.Sprint(order) != "[8 7 10 1]" || target.First != 1 || target.Processes[2].Version != "3.9" {
		t.Errorf("%v %+v", order, target)
	}
}

func TestWhatCannotBeSeenIsGuessedFromTheCommand(t *testing.T) {
	fs := proc(t, us, one{pid: 1, name: "node", cgroup: theirs, uid: 1000, gid: 1000, command: []string{"/usr/local/bin/node", "app.js"}})
	target, err := fs.find(40, "")
	if err != nil || target.Runtime != Node || target.Readable {
		t.Fatalf("%+v %v", target, err)
	}
	lack := target.Blindness(Self{UID: 0, GID: 0})
	if lack == nil || lack.Helps[0] != "identity" || !strings.Contains(lack.Lacks, "1000:1000") {
		t.Errorf("%+v", lack)
	}
	if target.Signal(Self{UID: 1000}) != nil || target.Signal(Self{UID: 5, Effective: 1 << 5}) != nil || target.Signal(Self{UID: 5}) == nil {
		t.Error("who may signal is wrong")
	}
}

func TestThisProcessIsGo(t *testing.T) {
	runtime, version := Proc.RuntimeOf(os.Getpid())
	if runtime != Go || version == "" {
		t.Errorf("%s %s", runtime, version)
	}
	if threads := Proc.Threads(os.Getpid()); len(threads) == 0 {
		t.Error("no threads")
	}
	if self := Whoami(); self.UID != os.Getuid() {
		t.Errorf("%+v", self)
	}
}

func TestYamaLetsOnlyATracerAttach(t *testing.T) {
	fs := proc(t, us, one{pid: 1, name: "python3", cgroup: theirs, root: t.TempDir(), command: []string{"python3"}})
	for scope, helped := range map[string]bool{"0\n": true, "1\n": true, "2\n": true, "3\n": false} {
		write(t, string(fs), "sys/kernel/yama/ptrace_scope", scope)
		target, err := fs.find(40, "")
		if err != nil {
			t.Fatal(err)
		}
		if lack := target.Attach(Self{}); (lack == nil) != (scope == "0\n") {
			t.Errorf("scope %s: %+v", scope, lack)
		}
		if lack := target.Attach(Self{Effective: 1 << 19}); (lack == nil) != helped {
			t.Errorf("scope %s with SYS_PTRACE: %+v", scope, lack)
		}
	}
}

func TestLinksOfTheTargetLeadNowhere(t *testing.T) {
	root, secret := t.TempDir(), t.TempDir()
	write(t, secret, "key", "secret")
	write(t, root, "tmp/fine", "fine")
	link(t, filepath.Join(secret, "key"), filepath.Join(root, "tmp/absolute"))
	link(t, "../../../../../../../../"+secret+"/key", filepath.Join(root, "tmp/relative"))
	if err := syscall.Mkfifo(filepath.Join(root, "tmp/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fs := proc(t, us, one{pid: 1, name: "java", cgroup: theirs, root: root, command: []string{"java"}})
	target, err := fs.find(40, "")
	if err != nil {
		t.Fatal(err)
	}
	if file, err := target.Open("/tmp/fine"); err != nil {
		t.Error(err)
	} else {
		file.Close()
	}
	for _, name := range []string{"/tmp/absolute", "/tmp/relative", "/tmp/pipe", "/tmp", "/tmp/none"} {
		if file, err := target.Open(name); err == nil {
			file.Close()
			t.Errorf("%s was opened", name)
		}
	}
}

func TestAfterItsTimeNothingIsDone(t *testing.T) {
	now := time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC)
	for text, late := range map[string]bool{"": false, "2026-11-23T01:00:01Z": false, "2026-11-23T00:59:59.5Z": true, "soon": true} {
		t.Setenv("KDEBUG_NOT_AFTER", text)
		if err := CheckNotAfter(now); (err != nil) != late {
			t.Errorf("%q: %v", text, err)
		}
	}
	t.Setenv("KDEBUG_NOT_AFTER", "2001-01-01T00:00:00Z")
	if _, err := Find(); !errors.Is(err, ErrTooLate) {
		t.Errorf("%v", err)
	}
}

func TestCapabilitiesHaveTheirNames(t *testing.T) {
	if names := Capabilities(1<<19 | 1<<13); fmt.Sprint(names) != "[NET_RAW SYS_PTRACE]" {
		t.Error(names)
	}
	if len(capabilities) != 41 {
		t.Error(len(capabilities))
	}
}
