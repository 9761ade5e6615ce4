package tracer

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTooManyStopsAreSeenWithinASpan(t *testing.T) {
	for _, each := range []struct {
		perSecond int
		want      bool
	}{{often / 2, false}, {2 * often, true}} {
		began := time.Now()
		meter, seen := meter{began: began}, false
		for number := range 3 * each.perSecond * int(span.Seconds()) {
			seen = meter.tooOften(began.Add(time.Duration(number)*time.Second/time.Duration(each.perSecond))) || seen
		}
		if seen != each.want {
			t.Errorf("%d a second: %t", each.perSecond, seen)
		}
	}
}

func TestAPauseIsNoReasonToLetGo(t *testing.T) {
	began := time.Now()
	meter := meter{began: began}
	for range 5000 {
		if meter.tooOften(began.Add(time.Minute)) {
			t.Fatal("5,000 stops in a minute are not many")
		}
	}
}

func TestASystemCallHasItsName(t *testing.T) {
	for number, want := range map[int]string{unix.SYS_READ: "read", unix.SYS_EXIT_GROUP: "exit_group", NoCall: "", 100_000: "system call 100000"} {
		if name := (Call{Number: number}).Name(); name != want {
			t.Errorf("%d is %q", number, name)
		}
	}
}

func TestAFaultIsToldFromASignalThatSomebodySent(t *testing.T) {
	for _, each := range []struct {
		info    Info
		isFault bool
	}{
		{Info{Signal: unix.SIGSEGV, Code: 1}, true},
		{Info{Signal: unix.SIGSEGV, Code: 0x80}, true},
		{Info{Signal: unix.SIGSEGV, Code: 0, Sender: 7}, false},
		{Info{Signal: unix.SIGABRT, Code: -6, Sender: 7}, false},
		{Info{Signal: unix.SIGTERM, Code: 0}, false},
	} {
		if each.info.IsFault() != each.isFault {
			t.Errorf("%+v", each.info)
		}
	}
}
