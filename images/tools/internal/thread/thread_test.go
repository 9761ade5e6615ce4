package thread

import (
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

// fake is a /proc with one process, 7, whose threads a test writes.
type fake struct {
	*testing.T
	fs target.FS
}

func newFake(t *testing.T) fake {
	t.Helper()
	return fake{t, target.FS(t.TempDir())}
}

func (f fake) write(content string, parts ...string) {
	f.Helper()
	path := f.fs.Path(7, parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f fake) thread(id int, state byte, schedstat, wchan, call string) {
	task := strconv.Itoa(id)
	f.write(task+" (x) y) "+string(state)+" "+strings.Repeat("0 ", 40), "task", task, "stat")
	f.write(schedstat, "task", task, "schedstat")
	f.write(wchan, "task", task, "wchan")
	f.write(call, "task", task, "syscall")
}

func (f fake) link(descriptor int, to string) {
	folder := f.fs.Path(7, "fd")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink(to, filepath.Join(folder, strconv.Itoa(descriptor))); err != nil {
		f.Fatal(err)
	}
}

// after is what is seen of a thread when so much time has passed.
func after(watch *Watch, passed time.Duration, id int) Seen {
	watch.began = time.Now().Add(-passed)
	return watch.Read()[id]
}

const sleeping = "0 0 0"

func withSockets(t *testing.T, all ...sockets.Socket) {
	t.Helper()
	before := allSockets
	allSockets = func() ([]sockets.Socket, error) { return all, nil }
	t.Cleanup(func() { allSockets = before })
}

func TestAThreadThatWaitsForANameServerIsToldWithIt(t *testing.T) {
	own := netip.MustParseAddrPort("10.0.0.1:41000")
	withSockets(t)
	before := allDatagrams
	t.Cleanup(func() { allDatagrams = before })
	for name, test := range map[string]struct {
		local, peer netip.AddrPort
		words, seen string
	}{
		"a name server":        {own, netip.MustParseAddrPort("10.0.0.10:53"), "waiting for the name server 10.0.0.10:53", "10.0.0.10:53"},
		"another peer":         {own, netip.MustParseAddrPort("10.0.0.9:4433"), "reading from 10.0.0.9:4433 (UDP)", ""},
		"a name server's own":  {netip.MustParseAddrPort("10.0.0.1:53"), netip.MustParseAddrPort("10.0.0.9:53"), "reading from 10.0.0.9:53 (UDP)", ""},
		"nobody in particular": {own, netip.MustParseAddrPort("0.0.0.0:0"), "reading from a UDP socket", ""},
		"what the pod has not": {own, netip.AddrPort{}, "reading from a socket that is not TCP", ""},
	} {
		allDatagrams = func() []sockets.Socket {
			if !test.peer.IsValid() {
				return nil
			}
			return []sockets.Socket{{Inode: 9, Local: test.local, Peer: test.peer}}
		}
		f := newFake(t)
		f.link(4, "socket:[9]")
		for number, each := range calls {
			if each == reads {
				f.thread(7, 'S', sleeping, "", strconv.Itoa(number)+" 0x4 0x0 0x0 0x0 0x0 0x0 0x0 0x0")
				break
			}
		}
		if seen := after(Start(f.fs, 7), time.Second, 7); seen.Class != Socket || seen.Words != test.words || seen.Peer != test.seen {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

func TestAThreadIsBusyByWhatItRanAndWasReadyToRun(t *testing.T) {
	for name, test := range map[string]struct {
		schedstat string
		class     Class
	}{
		"alone on a CPU":           {"9900000000 0 50", OnCPU},
		"under a limit of a third": {"3000000000 6900000000 90", Ready},
		"it waits nearly always":   {"100000000 100000000 90", Timer},
	} {
		f := newFake(t)
		f.thread(7, 'S', sleeping, "hrtimer_nanosleep", "230 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0")
		watch := Start(f.fs, 7)
		f.write(test.schedstat, "task", "7", "schedstat")
		if seen := after(watch, 10*time.Second, 7); seen.Class != test.class {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

// A program that writes to a disk is in state D for milliseconds, again and again (W17).
func TestADiskHangsOnlyAThreadThatStayedAtItForASecond(t *testing.T) {
	for name, test := range map[string]struct {
		first, second string
		passed        time.Duration
		wchan         string
		want          Class
	}{
		"it never came back":      {"5 0 3", "5 0 3", 1100 * time.Millisecond, "folio_wait_bit", Disk},
		"it ran in between":       {"5 0 3", "9 0 4", 1100 * time.Millisecond, "folio_wait_bit", Other},
		"the readings are close":  {"5 0 3", "5 0 3", 300 * time.Millisecond, "folio_wait_bit", Other},
		"it waits for its child":  {"5 0 3", "5 0 3", 1100 * time.Millisecond, "kernel_clone", Other},
		"a network's file system": {"5 0 3", "5 0 3", 1100 * time.Millisecond, "rpc_wait_bit_killable", Disk},
	} {
		f := newFake(t)
		f.thread(7, 'D', test.first, test.wchan, "running")
		watch := Start(f.fs, 7)
		f.write(test.second, "task", "7", "schedstat")
		if seen := after(watch, test.passed, 7); seen.Class != test.want {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

func TestAWaitIsToldByItsCallAndWhatIsBehindIt(t *testing.T) {
	ours, database := netip.MustParseAddrPort("10.0.0.1:8080"), netip.MustParseAddrPort("10.1.2.3:5432")
	withSockets(t,
		sockets.Socket{Inode: 1, State: "ESTAB", Peer: database, LastSent: 12 * time.Second, LastReceived: 13 * time.Second},
		sockets.Socket{Inode: 2, State: "LISTEN", Local: ours},
		sockets.Socket{Inode: 3, State: "ESTAB", Local: ours, Peer: netip.MustParseAddrPort("10.9.9.9:40000")},
		sockets.Socket{Inode: 5, State: "SYN-SENT", Peer: database},
	)
	poll := func(descriptors ...int) string {
		memory := make([]byte, 16)
		for _, each := range descriptors {
			memory = binary.NativeEndian.AppendUint32(memory, uint32(each))
			memory = binary.NativeEndian.AppendUint32(memory, polledIn)
		}
		return string(memory)
	}
	call := func(kind call, args string) string {
		for number, each := range calls {
			if each == kind {
				return strconv.Itoa(number) + " " + args + " 0x0 0x0"
			}
		}
		return ""
	}
	for name, test := range map[string]struct {
		call, wchan, memory string
		class               Class
		words, peer         string
	}{
		"reads an upstream":          {call: call(reads, "0x4 0x0 0x0 0x0 0x0 0x0"), class: Socket, words: "reading from 10.1.2.3:5432", peer: "10.1.2.3:5432"},
		"sends to an upstream":       {call: call(writes, "0x4 0x0 0x0 0x0 0x0 0x0"), class: Socket, words: "sending to 10.1.2.3:5432", peer: "10.1.2.3:5432"},
		"connects":                   {call: call(connects, "0x8 0x0 0x0 0x0 0x0 0x0"), class: Socket, words: "connecting to 10.1.2.3:5432", peer: "10.1.2.3:5432"},
		"polls the one connection":   {call: call(polls, "0x10 0x2 0x7530 0x0 0x0 0x0"), memory: poll(4, 7), class: Socket, words: "reading from 10.1.2.3:5432", peer: "10.1.2.3:5432"},
		"polls two connections":      {call: call(polls, "0x10 0x2 0x7530 0x0 0x0 0x0"), memory: poll(4, 4), class: Queue, words: "waiting for events"},
		"polls many":                 {call: call(polls, "0x10 0xffffffff 0x7530 0x0 0x0 0x0"), class: Queue, words: "waiting for events"},
		"polls nothing, for a time":  {call: call(polls, "0x0 0x0 0x7530 0x0 0x0 0x0"), class: Timer, words: "sleeping"},
		"accepts":                    {call: call(polls, "0x10 0x1 0xffffffff 0x0 0x0 0x0"), memory: poll(5), class: Queue, words: "waiting for a connection"},
		"waits for a client":         {call: call(reads, "0x6 0x0 0x0 0x0 0x0 0x0"), class: Queue, words: "waiting for a client"},
		"reads a pipe":               {call: call(reads, "0x7 0x0 0x0 0x0 0x0 0x0"), class: Other, words: "reading from a pipe"},
		"the call is hidden":         {call: "", wchan: "wait_woken", class: Socket, words: "reading from a connection"},
		"a futex is no lock for all": {call: call(locks, "0x6 0x0 0x0 0x0 0x0 0x0"), wchan: "futex_do_wait", class: Lock, words: "waiting (idle, or for a lock)"},
		"an unknown place":           {call: "9999 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0", wchan: "wait_for_the_moon", class: Other, words: "waiting"},
		"a poll of memory not there": {call: call(polls, "0xffffffffffffffff 0x1 0x0 0x0 0x0 0x0"), class: Queue, words: "waiting for events"},
		"no numbers":                 {call: "x y z 1 1 1 1 1 1", wchan: "\x1b[2J", class: Other, words: "waiting"},
	} {
		f := newFake(t)
		for descriptor, link := range map[int]string{4: "socket:[1]", 5: "socket:[2]", 6: "socket:[3]", 7: "pipe:[4]", 8: "socket:[5]"} {
			f.link(descriptor, link)
		}
		f.write(test.memory, "mem")
		f.thread(7, 'S', sleeping, test.wchan, test.call)
		seen := after(Start(f.fs, 7), time.Second, 7)
		if seen.Class != test.class || seen.Words != test.words || seen.Peer != test.peer {
			t.Errorf("%s: %+v", name, seen)
		}
		if strings.HasPrefix(seen.Words, "reading from 10") && seen.Waited != 12*time.Second {
			t.Errorf("%s: %v", name, seen.Waited)
		}
	}
}

func TestThreadsOfThisProcessAreSeen(t *testing.T) {
	watch := Start(target.Proc, os.Getpid())
	seen := watch.Read()
	if len(seen) == 0 {
		t.Fatal("none")
	}
	for id, each := range seen {
		if each.Class == "" || each.Words == "" {
			t.Errorf("%d: %+v", id, each)
		}
	}
}

// A server with a thread for each request: none of them lives at both readings.
func TestWhatThreadsThatEndedUsedIsTheProcess(t *testing.T) {
	stat := func(user, system string) string {
		return "7 (x) y) S " + strings.Repeat("0 ", 10) + user + " " + system + " " + strings.Repeat("0 ", 30)
	}
	f := newFake(t)
	f.thread(7, 'S', sleeping, "hrtimer_nanosleep", "230 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0")
	f.write(stat("100", "10"), "stat")
	watch := Start(f.fs, 7)
	f.write(stat("180", "30"), "stat")
	if got := watch.Cores(); got != 0 {
		t.Errorf("of a moment it tells %v", got)
	}
	watch.began = time.Now().Add(-2 * time.Second)
	if got := watch.Cores(); got < 0.49 || got > 0.5 {
		t.Error(got)
	}
	if unknown := Start(f.fs, 8); unknown.Cores() != 0 {
		t.Error(unknown.Cores())
	}
}
