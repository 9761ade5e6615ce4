package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/tracer"
)

const mebi = int64(1 << 20)

func amount(value int64) cgroup.Amount { return cgroup.Amount{Value: value, Known: true} }

// used is a container of 64 MiB that has some of them.
func used(mebibytes, peak int64) cgroup.Memory {
	return cgroup.Memory{Used: amount(mebibytes * mebi), Peak: amount(peak * mebi), Limit: amount(64 * mebi), Kills: amount(0), Together: amount(0)}
}

// killed is a death of process 7 (shop) by the kernel that killed so many together, with what all of the container had 0.4 s before.
func killed(count int64, members ...member) *scene {
	seen := sceneOf(target.Native, tracer.Death{Signal: unix.SIGKILL}, "__memset_avx2", "grow")
	seen.memory = used(1, 64)
	seen.memory.Kills, seen.memory.Together = amount(count), amount(1)
	seen.self.crowd.add(glance{at: seen.death.At.Add(-400 * time.Millisecond), memory: used(50, 52), members: members})
	return seen
}

func TestAKillOfAllTogetherIsToldByTheLargest(t *testing.T) {
	const full = ": the container had 64 MiB of its 64 MiB."
	for name, each := range map[string]struct {
		members []member
		want    string
	}{
		"gunicorn":         {[]member{{17, "gunicorn", 48 * mebi}, {7, "gunicorn", 9 * mebi}, {18, "gunicorn", 9 * mebi}}, "all 3 processes of the container together for memory; the largest was process 17 (gunicorn), 48 MiB" + full},
		"nginx":            {[]member{{30, "nginx", 55 * mebi}, {7, "nginx", 2 * mebi}}, "all 2 processes of the container together for memory; the largest was process 30 (nginx), 55 MiB" + full},
		"PostgreSQL":       {[]member{{99, "postgres", 40 * mebi}, {7, "postgres", 20 * mebi}, {8, "postgres", 6 * mebi}}, "the largest was process 99 (postgres), 40 MiB" + full},
		"Node's cluster":   {[]member{{20, "node", 50 * mebi}, {7, "node", 14 * mebi}}, "the largest was process 20 (node), 50 MiB" + full},
		"PHP-FPM":          {[]member{{12, "php-fpm8.2", 60 * mebi}, {7, "php-fpm8.2", 4 * mebi}}, "the largest was process 12 (php-fpm8.2), 60 MiB" + full},
		"a shell's child":  {[]member{{7, "shop", 61 * mebi}, {1, "sh", mebi}}, "the largest was process 7 (shop), 61 MiB, in grow+0x1 (shop)" + full},
		"a fast leak":      {[]member{{17, "worker", 13 * mebi}, {7, "shop", 9 * mebi}}, "the largest was process 17 (worker), 13 MiB 0.4 s before" + full},
		"hidden processes": {nil, "all 2 processes of the container together for memory" + full},
	} {
		code, words := killed(int64(max(2, len(each.members))), each.members...).verdict()
		if code != "died_of_memory" || !strings.HasPrefix(words, "The kernel killed all ") || !strings.HasSuffix(words, each.want) {
			t.Errorf("%s: %s %q", name, code, words)
		}
	}
}

// The kernel counts the one that it chose twice, unless that is on its way out by then.
func TestAllThatWereThereAreCounted(t *testing.T) {
	three := []member{{17, "worker", 48 * mebi}, {7, "shop", mebi}, {18, "worker", mebi}}
	for _, each := range []struct {
		counted int64
		members []member
		want    int64
	}{{3, three, 3}, {2, three, 3}, {3, nil, 3}, {1, three[:2], 2}, {1, three[1:2], 0}, {1, nil, 0}} {
		if got := killed(each.counted, each.members...).together(); got != each.want {
			t.Errorf("%d of %d: %d", each.counted, len(each.members), got)
		}
	}
}

func TestAKillOfOneProcessIsNoneOfAllTogether(t *testing.T) {
	seen := killed(1, member{7, "shop", 50 * mebi})
	seen.numbers = map[string]int64{"VmRSS": 55 * mebi}
	if _, words := seen.verdict(); words != "Process 7 (shop) was killed for memory in grow+0x1 (shop): the container had 64 MiB of its 64 MiB, this process 55 MiB." {
		t.Error(words)
	}
}

func TestAProcessWhoseMemoryWasTakenBackIsToldByWhatItHad(t *testing.T) {
	seen := killed(1, member{7, "shop", 50 * mebi})
	seen.stacks[7] = stackOf(" libc.so.6")
	if _, words := seen.verdict(); words != "Process 7 (shop) was killed for memory: the container had 64 MiB of its 64 MiB, this process 50 MiB." {
		t.Error(words)
	}
	seen.self.crowd = crowd{}
	if _, words := seen.verdict(); words != "Process 7 (shop) was killed for memory: the container had 64 MiB of its 64 MiB." {
		t.Error(words)
	}
}

func TestAGlanceFromWhileTheKernelTookAllBackDoesNotCount(t *testing.T) {
	seen := killed(1)
	seen.self.crowd = crowd{}
	for ago, each := range map[time.Duration]int64{2: 40, 1: 46} {
		seen.self.crowd.add(glance{at: seen.death.At.Add(-ago * time.Second), memory: used(each, each), members: []member{{7, "shop", each * mebi}}})
	}
	slices.SortFunc(seen.self.crowd.glances, func(a, b glance) int { return a.at.Compare(b.at) })
	seen.self.crowd.add(glance{at: seen.death.At.Add(-40 * time.Millisecond), memory: used(20, 51), members: []member{{7, "shop", 12 * mebi}}})
	seen.memory = used(1, 51)
	seen.memory.Kills, seen.memory.Together = amount(1), amount(1)
	if _, words := seen.verdict(); !strings.Contains(words, "the container had 51 MiB of its 64 MiB, this process 46 MiB") {
		t.Error(words)
	}
}

func TestAKillBehindWhichNothingCouldBeRead(t *testing.T) {
	seen := killed(1)
	seen.memory, seen.stacks, seen.late = cgroup.Memory{}, nil, true
	if _, words := seen.verdict(); words != "Process 7 (shop) was killed by SIGKILL, most likely for memory: nothing could be read behind it, and 0.4 s before, the container had 50 MiB of its 64 MiB." {
		t.Error(words)
	}
	seen.self.crowd = crowd{}
	seen.self.crowd.add(glance{at: seen.death.At.Add(-time.Second), memory: used(20, 20)})
	if _, words := seen.verdict(); words != "Process 7 (shop) was killed by SIGKILL." {
		t.Error(words)
	}
}

func TestWhatTheContainerHadIsOfTheMomentOfTheKill(t *testing.T) {
	for name, each := range map[string]struct {
		before, now cgroup.Memory
		want        int64
	}{
		"all is still there":           {used(50, 52), used(63, 63), 63},
		"it was taken back":            {used(50, 52), used(1, 64), 64},
		"a peak of long ago":           {used(50, 63), used(1, 63), 50},
		"a kernel that counts no peak": {used(50, 0), used(40, 0), 50},
	} {
		seen := killed(1)
		seen.self.crowd = crowd{}
		seen.self.crowd.add(glance{at: seen.death.At.Add(-2 * time.Second), memory: each.before})
		if seen.memory = each.now; seen.usedAtTheKill() != each.want*mebi {
			t.Errorf("%s: %s", name, size(seen.usedAtTheKill()))
		}
	}
}

func TestAKillOfAnotherProcessLongAgoIsNotTheReason(t *testing.T) {
	seen := killed(1)
	old := used(50, 64)
	old.Kills = amount(1)
	seen.self.crowd = crowd{}
	seen.self.crowd.add(glance{at: seen.death.At.Add(-3 * time.Second), memory: old})
	if code, words := seen.verdict(); code != "died_of_signal" || !strings.Contains(words, "was killed by SIGKILL") {
		t.Error(code, words)
	}
}

func TestAParentThatEndsBehindTheKillOfItsChildNamesThat(t *testing.T) {
	proc := t.TempDir()
	write := func(pid int) {
		_ = os.Mkdir(filepath.Join(proc, fmt.Sprint(pid)), 0o700)
		_ = os.WriteFile(filepath.Join(proc, fmt.Sprint(pid), "stat"), []byte(statOf(pid, "S")), 0o600)
	}
	write(7)
	seen := sceneOf(target.Python, tracer.Death{Code: 3}, "exit", "leave")
	seen.self.target = seen.self.target.In(target.FS(proc))
	seen.memory = used(9, 64)
	seen.memory.Kills = amount(1)
	seen.self.crowd.add(glance{at: seen.death.At.Add(-2 * time.Second), memory: used(50, 52), members: []member{{7, "shop", 60 * mebi}, {17, "worker", 40 * mebi}}})
	code, words := seen.verdict()
	if want := "; before that, the kernel killed process 17 (worker), which had 40 MiB, for memory: the container had 64 MiB of its 64 MiB."; code != "died_of_memory" || !strings.HasSuffix(words, want) {
		t.Error(code, words)
	}
	write(17)
	if _, words := seen.verdict(); !strings.Contains(words, "the kernel killed a process of the container, for memory") {
		t.Error(words)
	}
	seen.death.Code = 0
	if code, words := seen.verdict(); strings.Contains(words, "killed") || code == "died_of_memory" {
		t.Error(code, words)
	}
}

// statOf is /proc/PID/stat of a process with 100 pages.
func statOf(pid int, state string) string {
	return fmt.Sprintf("%d (a (strange) name) %s 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 100 4096000 100 18446744073709551615\n", pid, state)
}

func TestTheSizeOfAProcessIsReadFromItsStat(t *testing.T) {
	found, ok := memberOf(statOf(17, "S"))
	if want := (member{17, "a (strange) name", 100 * int64(os.Getpagesize())}); !ok || found != want {
		t.Errorf("%+v", found)
	}
	for _, wrong := range []string{"", "17", "17 (a", "17 (a) S 1", ") S (", statOf(17, "Z")} {
		if found, ok := memberOf(wrong); ok {
			t.Errorf("%q: %+v", wrong, found)
		}
	}
}

func TestOnlyTheProcessesOfTheContainerAreLookedAt(t *testing.T) {
	proc := t.TempDir()
	for pid, place := range map[int]string{1: "/pod/a", 7: "/pod/a", 8: "/pod/a/inner", 9: "/pod/ab", 10: "/pod/b", os.Getpid(): "/pod/a"} {
		folder := filepath.Join(proc, fmt.Sprint(pid))
		_ = os.Mkdir(folder, 0o700)
		_ = os.WriteFile(filepath.Join(folder, "cgroup"), []byte("0::"+place+"\n"), 0o600)
		_ = os.WriteFile(filepath.Join(folder, "stat"), []byte(statOf(pid, "S")), 0o600)
	}
	members, still := membersOf(target.FS(proc), "/pod/a", map[int]bool{})
	var pids []int
	for _, each := range members {
		pids = append(pids, each.pid)
	}
	if fmt.Sprint(pids) != "[1 7 8]" || still[9] || !still[8] {
		t.Error(pids, still)
	}
}

func TestAContainerThatIsSoonFullIsLookedAtMoreOften(t *testing.T) {
	now := time.Unix(1000, 0)
	var seen crowd
	add := func(later time.Duration, mebibytes int64) time.Duration {
		now = now.Add(later)
		return seen.add(glance{at: now, memory: used(mebibytes, 64)})
	}
	for range 30 {
		if again := add(time.Second, 20); again != time.Second {
			t.Fatalf("a quiet one again after %s", again)
		}
	}
	if again := add(time.Second, 40); again != 100*time.Millisecond {
		t.Errorf("again after %s", again)
	}
	add(100*time.Millisecond, 45)
	add(100*time.Millisecond, 50)
	if found, _ := seen.before(now, 0); found.memory.Used.Value != 50*mebi || len(seen.glances) > glancesKept {
		t.Errorf("%d glances, the last with %s", len(seen.glances), size(found.memory.Used.Value))
	}
	if found, _ := seen.before(now, beforeIt); found.memory.Used.Value != 20*mebi {
		t.Errorf("long before it had %s", size(found.memory.Used.Value))
	}
	if _, found := seen.before(now, time.Hour); !found {
		t.Error("the oldest is not taken")
	}
}

func TestAShellWhoseChildWasKilledForMemory(t *testing.T) {
	victim := start(t, true, []string{"sh", "-c", cVictim(t, "leak")[0] + " leak; exit $?"})
	limited(t, victim, 64<<20)
	child := fmt.Sprintf("/proc/%d/task/%d/children", victim.pid, victim.pid)
	// It started before its parent came to the cgroup.
	text, _ := os.ReadFile(child)
	_ = os.WriteFile(fmt.Sprintf("/sys/fs/cgroup/memory/blackbox-%d/cgroup.procs", victim.pid), text, 0o600)
	watcher := victim.watch(t)
	victim.release()
	if code := victim.code(); code != exitSignals+int(syscall.SIGKILL) {
		t.Errorf("exit code %d", code)
	}
	out := watcher.result()
	for _, want := range []string{"exit code 137, as a shell does whose child ended by SIGKILL; before that, the kernel killed process 2 (victim), which had ", " of its 64 MiB", `"code":"died_of_memory"`} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}

func TestTheEndOfAnotherThatWasKilledTogetherIsHeldToo(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	one, other := start(t, false, cVictim(t, "wait")), start(t, false, cVictim(t, "wait"))
	watch, err := tracer.Seize(target.Proc, one.pid, other.pid)
	if err != nil {
		t.Skip(err)
	}
	kill(t, one, syscall.SIGKILL)
	death, err := watch.Wait()
	if err != nil || death.PID != one.pid {
		t.Fatal(death, err)
	}
	if nobody := watch.Also(other.pid); nobody != nil {
		t.Fatal("one that lives is said to end")
	}
	kill(t, other, syscall.SIGKILL)
	also := watch.Also(other.pid)
	if also == nil || also.PID != other.pid || also.Signal != unix.SIGKILL || len(also.Held) == 0 {
		t.Fatalf("%+v", also)
	}
	also.LetGo()
	death.LetGo()
	if one.code() != 137 || other.code() != 137 {
		t.Error("they do not end")
	}
}
