package stack

import (
	"fmt"
	"testing"
)

func TestTheHottestFramesComeFirst(t *testing.T) {
	frames := Hottest([]Sample{{[]string{"inner", "outer"}, 30}, {[]string{"other"}, 10}, {[]string{"inner"}, 50}, {nil, 99}, {[]string{"none"}, 0}, {[]string{"more"}, 10}}, 2)
	if fmt.Sprint(frames) != "[{inner 0.8} {more 0.1}]" {
		t.Error(frames)
	}
	if len(Hottest(nil, 3)) != 0 {
		t.Error("frames of nothing")
	}
}

func TestAQueueAtALockHasItsHolder(t *testing.T) {
	threads := []Thread{
		{Name: "holder", State: "RUNNABLE", Holds: []string{"1"}, Frames: []string{"work"}},
		{Name: "a", State: "BLOCKED", WaitsFor: "1", WaitsForKind: "Shop"},
		{Name: "b", State: "BLOCKED", WaitsFor: "1", WaitsForKind: "Shop"},
		// Waits on a condition of a lock that it gave up for that time: nobody holds it up.
		{Name: "pool", State: "WAITING", WaitsFor: "2", Holds: []string{"2"}},
		{Name: "orphan", State: "BLOCKED", WaitsFor: "3"},
	}
	locks := Locks(threads)
	if len(locks) != 2 || locks[0].Holder != "holder" || locks[0].By == nil || len(locks[0].Waiters) != 2 || locks[1].Holder != "" {
		t.Errorf("%+v", locks)
	}
}

func TestThreadsAtOnePlaceAreTogether(t *testing.T) {
	groups := Groups([]Thread{{Name: "a", State: "x", Frames: []string{"f"}}, {Name: "b", State: "y", Frames: []string{"f"}, Minutes: 2}, {Name: "c", State: "y", Frames: []string{"f"}, Minutes: 9}})
	if len(groups) != 2 || len(groups[0].Names) != 2 || groups[0].Minutes != 9 {
		t.Errorf("%+v", groups)
	}
	if does := Summary([]Thread{{State: "x"}, {State: "y"}, {State: "y"}}); does != "2 in the state y, 1 in the state x" {
		t.Error(does)
	}
}
