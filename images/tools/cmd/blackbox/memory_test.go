package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kdebug/tools/internal/cgroup"
)

// memoryScene is a condition on the memory of a container with a limit of 100 MiB, and a clock of its own.
type memoryScene struct {
	*wire
	t      *testing.T
	folder string
	now    time.Time
}

func sceneOfMemory(t *testing.T, when string) *memoryScene {
	t.Helper()
	set, err := readConditions(when)
	if err != nil {
		t.Fatal(err)
	}
	scene := &memoryScene{t: t, folder: t.TempDir(), now: time.Unix(1000, 0)}
	scene.write("memory.max", 100<<20)
	scene.write("memory.current", 0)
	scene.write("memory.stat", 0)
	group := cgroup.At(scene.folder).Gauge()
	t.Cleanup(group.Close)
	scene.wire = &wire{condition: set[0], gauge: &memoryGauge{group: group, isShare: set[0].isShare, most: set[0].most}}
	return scene
}

func (s *memoryScene) write(name string, value float64) {
	if err := os.WriteFile(filepath.Join(s.folder, name), fmt.Appendf(nil, "%.0f\n", value), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// reads asks once, some time after the last: whether the condition counts, and after what time it is asked again.
func (s *memoryScene) reads(later time.Duration, mebibytes float64) (trips bool, again time.Duration) {
	s.t.Helper()
	s.write("memory.current", mebibytes*(1<<20))
	s.now = s.now.Add(later)
	trips = s.holds(s.now)
	return trips, s.next.Sub(s.now)
}

func TestMemoryThatIsSoonFullIsReadASecondTimeAtOnce(t *testing.T) {
	for _, when := range []string{"memory>92%", "memory>92MiB"} {
		leak := sceneOfMemory(t, when)
		leak.reads(0, 80)
		leak.reads(100*time.Millisecond, 90)
		if trips, again := leak.reads(30*time.Millisecond, 93); trips || again > 2*time.Millisecond || !leak.isUrgent {
			t.Errorf("%s, the first reading: %t, again after %s", when, trips, again)
		}
		if trips, _ := leak.reads(time.Millisecond, 93); !trips {
			t.Errorf("%s does not hold twice", when)
		}
	}
}

func TestMemoryThatIsNotSoonFullIsReadASecondTimeLater(t *testing.T) {
	slow := sceneOfMemory(t, "memory>92%")
	slow.reads(0, 91.9)
	if trips, again := slow.reads(100*time.Millisecond, 92.1); trips || again != 10*time.Millisecond || slow.isUrgent {
		t.Errorf("%t, again after %s", trips, again)
	}
}

func TestOneWrongReadingOfMemoryTripsNothing(t *testing.T) {
	steady := sceneOfMemory(t, "memory>92%")
	for range 3 {
		steady.reads(100*time.Millisecond, 40)
		_, again := steady.reads(100*time.Millisecond, 99)
		if trips, _ := steady.reads(again, 40); trips {
			t.Fatal("it trips")
		}
	}
	// It is read more often for a moment only.
	again := time.Duration(0)
	for range 10 {
		_, again = steady.reads(again, 40)
	}
	if again != 100*time.Millisecond {
		t.Errorf("it is read again after %s", again)
	}
}

func TestALimitThatIsNotKnownForAMomentSpoilsNoLaterReading(t *testing.T) {
	moment := sceneOfMemory(t, "memory>92%")
	moment.write("memory.max", 0)
	moment.reads(0, 80)
	moment.write("memory.max", 100<<20)
	moment.reads(time.Second, 80)
	moment.reads(100*time.Millisecond, 89)
	if trips, again := moment.reads(30*time.Millisecond, 93); trips || again > 2*time.Millisecond {
		t.Errorf("%t, again after %s", trips, again)
	}
}

func TestALeakThatGrowsInStepsIsNotTakenForOneThatStands(t *testing.T) {
	steps := sceneOfMemory(t, "memory>92%")
	steps.reads(0, 80)
	steps.reads(100*time.Millisecond, 89)
	if _, again := steps.reads(10*time.Millisecond, 89); again > 40*time.Millisecond {
		t.Errorf("it is read again after %s", again)
	}
}
