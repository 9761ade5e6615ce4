// Package target finds the process that a diagnosis beside a container is about, and says what may be done with it.
package target

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
)

// Process is one process of the target's container.
type Process struct {
	Status
	PID     int
	Runtime Runtime
	// Version of the runtime, as "17.0.15" or "3.11"; empty where it is not known.
	Version string
	// Command is its arguments.
	Command []string
	// UsedTicks is the CPU time it used itself, and Start when it began, in ticks of 10 ms.
	UsedTicks, Start int64
}

// Target is the container that is looked at: one process of it is the one that matters most.
type Target struct {
	Process
	// First is the container's first process; often the same.
	First int
	// Container is the name that the pod gives it; empty where it cannot be seen.
	Container string
	// Processes are all of the container, the one that matters most first; at most 64.
	Processes []Process
	// Readable is whether the kernel lets us see the target's files, environment and memory map (ptrace's read access).
	Readable bool
	// ReadOnlyRoot is whether the target's root is mounted read-only. False where it is not Readable.
	ReadOnlyRoot bool
	// Yama is the node's ptrace_scope; 0 where it has none.
	Yama int

	fs FS
}

// Self is who we are.
type Self struct {
	UID, GID  int
	Effective uint64
	// Label is our own confinement, as FS.Label says it.
	Label string
}

// MaxProcesses is how many processes of a container are looked at.
const MaxProcesses = 64

// Errors of Find.
var (
	// ErrNoTarget: no process of another container is visible, so no target container was named; or none of the one that was named.
	ErrNoTarget = errors.New("no process of another container is visible")
	// ErrTooLate: kdebug has given this run up, so it must do nothing.
	ErrTooLate = errors.New("this run was given up before it started")
)

// withoutFirst is ErrNoTarget where a process that could be meant goes on without its first thread: the kernel then shows it as a zombie, without its
// memory and its files.
type withoutFirst Neighbour

func (w withoutFirst) Error() string {
	return fmt.Sprintf("the first thread of process %d (%s) has ended while others go on, and nobody can look into such a process from beside it", w.PID, report.Name(w.Name, 40))
}

func (w withoutFirst) Unwrap() error { return ErrNoTarget }

// errHidden is ErrNoTarget where nothing can be seen, whatever was named.
var errHidden = fmt.Errorf("%w: /proc hides the processes of others", ErrNoTarget)

// HelpsFor is what helps against an ErrNoTarget: to name the container, unless it is there and nobody can look into it.
func HelpsFor(err error) []string {
	switch {
	case errors.As(err, &withoutFirst{}):
		return nil
	case errors.Is(err, errHidden):
		return []string{report.General, report.Sysadmin}
	}
	return []string{report.ATarget}
}

// Find finds the target of this container: of what KDEBUG_TARGET names, and where it names none or no container's name can be seen, of the oldest
// container that is no pause and no debug container. Fails with ErrTooLate after KDEBUG_NOT_AFTER, and with ErrNoTarget.
func Find() (*Target, error) {
	if err := CheckNotAfter(time.Now()); err != nil {
		return nil, err
	}
	return Proc.find(os.Getpid(), os.Getenv("KDEBUG_TARGET"))
}

// CheckNotAfter fails with ErrTooLate if KDEBUG_NOT_AFTER is before now, and for a value that is no time.
func CheckNotAfter(now time.Time) error {
	text := os.Getenv("KDEBUG_NOT_AFTER")
	if text == "" {
		return nil
	}
	latest, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("KDEBUG_NOT_AFTER is not a UTC time of RFC 3339")
	}
	if now.After(latest) {
		return ErrTooLate
	}
	return nil
}

// Whoami says as whom this process runs.
func Whoami() Self {
	status, err := Proc.Status("self")
	if err != nil {
		return Self{UID: os.Getuid(), GID: os.Getgid()}
	}
	return Self{status.UID, status.GID, status.Effective, Proc.Label("self")}
}

// Root is the path of the target's files. Use Open for reading one: links in it lead elsewhere.
func (t *Target) Root() string { return t.fs.Path(t.PID, "root") }

// Open opens a regular file of the target, never one outside its root. It needs Readable.
func (t *Target) Open(name string) (*os.File, error) { return t.fs.openInRoot(t.PID, name) }

// Environ is the environment that the target started with. It needs Readable.
func (t *Target) Environ() (map[string]string, error) { return t.fs.Environ(t.PID) }

// Threads are the ids of a process' threads.
func (t *Target) Threads(pid int) []int { return t.fs.Threads(pid) }

// FS is the /proc that the target was found in.
func (t *Target) FS() FS { return t.fs }

// Attach says why we may not read the target's memory or stop it, as gdb and py-spy do; nil where we probably may.
func (t *Target) Attach(self Self) *Lack {
	tracer := Has(self.Effective, "SYS_PTRACE")
	switch {
	case !t.Readable:
		return t.Blindness(self)
	case t.Yama >= 3:
		return &Lack{Lacks: "ptrace: the node forbids it for everybody (Yama ptrace_scope 3)"}
	case t.Yama > 0 && !tracer:
		return &Lack{Lacks: fmt.Sprintf("SYS_PTRACE: the node lets only a tracer with it attach (Yama ptrace_scope %d)", t.Yama), Helps: []string{"general"}}
	}
	return nil
}

// Handles is whether the process has a handler of its own for a signal at this moment. False where it is gone, or another has its number: what
// was read when it was found may be old.
func (t *Target) Handles(signal syscall.Signal) bool {
	status, err := t.fs.Status(fmt.Sprint(t.PID))
	if err != nil || !status.Catches(signal) {
		return false
	}
	_, start, err := t.fs.Times(fmt.Sprint(t.PID))
	return err == nil && (t.Start == 0 || start == t.Start)
}

// Stopped is whether the process is stopped at this moment, by a signal or a debugger: what it is asked to do then, it does later.
func (t *Target) Stopped() bool {
	status, err := t.fs.Status(fmt.Sprint(t.PID))
	return err == nil && (status.State == 'T' || status.State == 't')
}

// Signal says why we may not send the target a signal; nil where we may (kill(2)).
func (t *Target) Signal(self Self) *Lack {
	if self.UID == t.UID || Has(self.Effective, "KILL") {
		return nil
	}
	return &Lack{Lacks: fmt.Sprintf("the right to signal the target: its own uid %d", t.UID), Helps: []string{"identity"}}
}

// Lack is a missing permission, and what would help, best first.
type Lack struct {
	Lacks string
	Helps []string
}

// Blindness says why the target's files and memory are not readable; nil if they are. It names only what adds to what we have.
func (t *Target) Blindness(self Self) *Lack {
	if t.Readable {
		return nil
	}
	isSame := self.UID == t.UID && self.GID == t.GID
	modules := self.lacking("sysadmin")
	switch apart := separation(self.Label, t.fs.Label(fmt.Sprint(t.PID))); {
	case apart != "":
		return &Lack{apart, modules}
	case Has(self.Effective, "SYS_PTRACE"):
		return &Lack{"ptrace access: the node refuses it, although we have SYS_PTRACE", modules}
	case t.Permitted&^self.Effective != 0 || isSame && t.Permitted != 0:
		return &Lack{"SYS_PTRACE: the target has capabilities that we lack", self.lacking("general", "sysadmin")}
	case isSame && confines(self.Label) && !t.fs.isSealed(t.PID, t.UID):
		return &Lack{"ptrace access: the node's security module refuses it, under " + self.Label, modules}
	case isSame:
		return &Lack{"SYS_PTRACE: the target made itself unreadable", self.lacking("general", "sysadmin")}
	case t.Permitted != 0:
		return &Lack{"SYS_PTRACE: the target is another user, and has capabilities", self.lacking("general", "sysadmin")}
	}
	return &Lack{fmt.Sprintf("the target's own uid:gid %d:%d, or SYS_PTRACE", t.UID, t.GID), self.lacking("identity", "general", "sysadmin")}
}

// lacking are those of these profiles that would give more than we have.
func (s Self) lacking(profiles ...string) []string {
	return slices.DeleteFunc(profiles, func(each string) bool {
		return each == "general" && Has(s.Effective, "SYS_PTRACE") || each == "sysadmin" && Has(s.Effective, "SYS_ADMIN")
	})
}

// Refused is the lack where the kernel refuses what nothing that we know of forbids.
func (s Self) Refused(lacks string) *Lack { return &Lack{lacks, s.lacking("general", "sysadmin")} }

// Of is the target with this process as the one that matters, whatever container it is in.
func Of(pid int) (*Target, error) {
	target, err := OneOf(pid)
	if err != nil {
		return nil, err
	}
	target.Runtime, target.Version = Proc.RuntimeOf(pid)
	target.Processes = []Process{target.Process}
	return target, nil
}

// Become runs this process as the target's user from now on, where that is the way to see it: we are root without
// SYS_PTRACE, as under Pod Security *baseline*, and the target is somebody else without capabilities. The kernel then counts
// us as the target itself. Gives the target as it is seen then, or the same one where nothing was gained; what root could do is
// lost in the first case. The target cannot look into us all the same: a change of user keeps a process closed (credentials(7)).
func (t *Target) Become() *Target {
	self := Whoami()
	able := Has(self.Effective, "SETUID") && Has(self.Effective, "SETGID")
	if t.Readable || self.UID != 0 || t.UID <= 0 || t.Permitted != 0 || !able {
		return t
	}
	// In this order: who is no longer root may not change the group.
	if syscall.Setgroups(nil) != nil || syscall.Setresgid(t.GID, t.GID, t.GID) != nil || syscall.Setresuid(t.UID, t.UID, t.UID) != nil {
		return t
	}
	again, err := t.fs.find(os.Getpid(), t.Container)
	if err != nil || again.First != t.First {
		return t
	}
	return again
}

// find looks for the target in a /proc, for the process with the number own.
func (fs FS) find(own int, wanted string) (*Target, error) {
	first, container, _ := fs.firsts(own, wanted)
	if first == 0 {
		return nil, fs.whyNone(own, wanted)
	}
	target := &Target{First: first, Container: container, Yama: fs.Yama(), fs: fs}
	target.Processes = fs.processesOf(first)
	if len(target.Processes) == 0 {
		return nil, ErrNoTarget
	}
	target.Process = target.Processes[0]
	target.seeRoot()
	return target, nil
}

// seeRoot sets Readable and ReadOnlyRoot.
func (t *Target) seeRoot() {
	// The kernel asks for the same right here as for the files, the links of fd and the environment.
	if _, err := os.Stat(t.Root() + "/."); err != nil {
		return
	}
	t.Readable = true
	const readOnly = 1 // ST_RDONLY of statfs(2)
	var system syscall.Statfs_t
	if syscall.Statfs(t.Root(), &system) == nil {
		t.ReadOnlyRoot = system.Flags&readOnly != 0
	}
}

// firsts finds the first process of the wanted container, else the oldest; and those of all containers that could be meant. A process chooses
// its own name and environment, but not what the pod calls its container. So that is compared first; and where a name is wanted and any
// container's name can be seen, another container never takes its place.
func (fs FS) firsts(own int, wanted string) (int, string, []Neighbour) {
	ours := fs.Cgroup(own)
	onNode := false
	if status, err := fs.Status("2"); err == nil && status.Name == "kthreadd" {
		onNode = true
	}
	best, bestContainer, oldest := 0, "", int64(0)
	named := false
	var all []Neighbour
	for _, pid := range fs.PIDs() {
		status, err := fs.Status(fmt.Sprint(pid))
		if err != nil || pid == own || status.State == 'Z' || !fs.isFirst(pid, status.Parent, onNode) {
			continue
		}
		place := fs.Cgroup(pid)
		if place == "" || place == ours || (onNode && !inOurPod(place, ours)) {
			continue
		}
		container := fs.container(pid)
		if wanted != "" && container == wanted {
			return pid, container, []Neighbour{{pid, status.Name, container}}
		}
		named = named || container != "" && !isOfKdebug(container)
		if fs.isNoTarget(pid, status.Name, container) {
			continue
		}
		_, start, err := fs.Times(fmt.Sprint(pid))
		if err != nil {
			continue
		}
		all = append(all, Neighbour{pid, status.Name, container})
		if best == 0 || start < oldest {
			best, bestContainer, oldest = pid, container, start
		}
	}
	if wanted != "" && named {
		return 0, "", nil
	}
	// A runtime that shows no cgroups: process 1, unless it is our own or the node's.
	if best == 0 && !onNode && !fs.IsAncestor(1, own) {
		if status, err := fs.Status("1"); err == nil && status.State != 'Z' && fs.mayBeMeant(status.Name, wanted) {
			return 1, fs.container(1), nil
		}
	}
	return best, bestContainer, all
}

// whyNone is why no target was found.
func (fs FS) whyNone(own int, wanted string) error {
	ours := fs.Cgroup(own)
	for _, pid := range fs.PIDs() {
		status, err := fs.Status(fmt.Sprint(pid))
		if err != nil || status.State != 'Z' || status.Threads < 2 {
			continue
		}
		for _, thread := range fs.Threads(pid) {
			// What a thread that lives shows: the first one has lost its own.
			place, container := fs.Cgroup(thread), fs.container(thread)
			if place != ours && inOurPod(place, ours) && (wanted == "" || container == "" || container == wanted) {
				return withoutFirst{pid, status.Name, container}
			}
		}
	}
	if fs.hidesOthers(own) {
		return errHidden
	}
	return ErrNoTarget
}

// mayBeMeant is whether process 1, with this name of its own, may be the target although its cgroup says nothing.
func (fs FS) mayBeMeant(name, wanted string) bool {
	container := fs.container(1)
	switch {
	case wanted == "":
		return !fs.isNoTarget(1, name, container)
	case container != "":
		return container == wanted
	}
	return name != "pause"
}

// isNoTarget: the pod's pause, which has no container's mount, and the debug containers are never looked at unless they are wanted by name.
func (fs FS) isNoTarget(pid int, name, container string) bool {
	if name == "pause" && container == "" || name == "autodiagnose" || isOfKdebug(container) {
		return true
	}
	variables, err := fs.Environ(pid)
	return err == nil && variables["KDEBUG_RUN"] != ""
}

// isOfKdebug is whether a container's name is one that kdebug derives from a run: "kdebug-" and 12 characters of base32.
func isOfKdebug(container string) bool {
	rest, found := strings.CutPrefix(container, "kdebug-")
	return found && len(rest) == 12 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// isFirst: a container's first process has no parent here, also in a shared process namespace, where process 1 is the pod's
// pause; among the node's processes, its parent is in another cgroup.
func (fs FS) isFirst(pid, parent int, onNode bool) bool {
	if parent == 0 {
		return true
	}
	return onNode && fs.Cgroup(parent) != fs.Cgroup(pid)
}

// Cgroup is the longest path of a process' cgroups; "" where none is visible.
func (fs FS) Cgroup(pid int) string {
	text, _ := os.ReadFile(fs.Path(pid, "cgroup"))
	longest := ""
	for line := range strings.Lines(string(text)) {
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 && len(fields[2]) > len(longest) {
			longest = fields[2]
		}
	}
	return longest
}

// inOurPod: the cgroups of a pod's containers lie beside each other; seen from a cgroup namespace, one level above us, or two where the runtime (crun) puts
// a group into the scope that systemd made for the container.
func inOurPod(place, ours string) bool {
	if ours != "/" {
		pod := folderOf(ours)
		return len(pod) > 1 && strings.HasPrefix(place, pod)
	}
	switch parts := strings.Split(place, "/"); {
	case len(parts) < 3 || parts[1] != "..":
		return false
	case parts[2] != "..":
		return true
	default:
		return len(parts) == 5 && strings.HasSuffix(parts[3], ".scope")
	}
}

// folderOf is the pod's folder, with a slash at its end, of a container's cgroup; "" where it has none.
func folderOf(place string) string {
	before, _, inScope := strings.Cut(place, ".scope/")
	if inScope {
		place = before
	}
	// The colon is containerd's where it takes systemd's words for a path: slice:prefix:id.
	return place[:strings.LastIndexAny(place, "/:")+1]
}

// IsBeside is whether a process is in another container of the pod that a process of ours is in, as far as their cgroups tell.
func (fs FS) IsBeside(pid, own int) bool {
	place, ours := fs.Cgroup(pid), fs.Cgroup(own)
	return place != ours && place != "" && inOurPod(place, ours)
}

// container is what the pod calls a process' container: the kubelet mounts a file from a folder of that name into each.
func (fs FS) container(pid int) string {
	text, _ := os.ReadFile(fs.Path(pid, "mountinfo"))
	name := ""
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		parts := strings.Split(fields[3], "/")
		if at := slices.Index(parts, "containers"); at > 1 && len(parts) == at+3 && parts[at-2] == "pods" {
			name = parts[at+1]
		}
	}
	return name
}

// IsAncestor is whether a process is of itself, its parent, or above.
func (fs FS) IsAncestor(pid, of int) bool {
	for of > 0 {
		if of == pid {
			return true
		}
		status, err := fs.Status(fmt.Sprint(of))
		if err != nil {
			return false
		}
		of = status.Parent
	}
	return false
}

// processesOf gives the living processes of a container, the one that matters most first: one whose runtime we know before
// shells and inits, then the first process, then the one that used most CPU.
func (fs FS) processesOf(first int) []Process {
	place := fs.Cgroup(first)
	var processes []Process
	for _, pid := range fs.PIDs() {
		if inner := fs.Cgroup(pid); place == "" && !fs.IsAncestor(first, pid) || inner != place && !strings.HasPrefix(inner, place+"/") {
			continue
		}
		status, err := fs.Status(fmt.Sprint(pid))
		if err != nil || status.State == 'Z' || status.State == 'X' {
			continue
		}
		process := Process{PID: pid, Status: status, Command: fs.Cmdline(pid)}
		process.UsedTicks, process.Start, _ = fs.Times(fmt.Sprint(pid))
		if process.Runtime, process.Version = fs.RuntimeOf(pid); process.Command == nil && pid != first {
			continue
		}
		processes = append(processes, process)
		if len(processes) == MaxProcesses {
			break
		}
	}
	slices.SortStableFunc(processes, func(a, b Process) int {
		if known := rank(a.Runtime) - rank(b.Runtime); known != 0 {
			return known
		}
		if a.PID == first || b.PID == first {
			if a.PID == first {
				return -1
			}
			return 1
		}
		return int(b.UsedTicks - a.UsedTicks)
	})
	return processes
}

// rank: shells, inits and what we know nothing of come behind programs with a runtime of their own. Go comes between,
// because many inits are written in it.
func rank(runtime Runtime) int {
	switch runtime {
	case JVM, Python, Node, Ruby, DotNet:
		return 0
	case Go:
		return 1
	}
	return 2
}

// With is the same target seen from another of its processes.
func (t *Target) With(process Process) *Target {
	other := *t
	other.Process = process
	return &other
}

// In is the same target seen in another /proc: one that a test made.
func (t *Target) In(fs FS) *Target {
	other := *t
	other.fs = fs
	return &other
}
