package cpu

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/target"
)

//go:noinline
func burn(until time.Time) (sum int) {
	for time.Now().Before(until) {
		sum++
	}
	return sum
}

func cpuProfile(t *testing.T) []byte {
	t.Helper()
	var content bytes.Buffer
	if err := pprof.StartCPUProfile(&content); err != nil {
		t.Skip(err)
	}
	burn(time.Now().Add(time.Second))
	pprof.StopCPUProfile()
	return content.Bytes()
}

func TestParsePprof(t *testing.T) {
	content := cpuProfile(t)
	stacks, err := parsePprof(content)
	if err != nil {
		t.Fatal(err)
	}
	if len(stacks) == 0 {
		t.Skip("no CPU for a second")
	}
	where, found := flame.Where(stacks)
	if !found || !strings.Contains(where.Name, "burn") && !strings.HasPrefix(where.Name, "time.") {
		t.Errorf("it says that %q is hot", where.Name)
	}
	if !strings.Contains(string(flame.Folded(stacks)), "testing.tRunner;") {
		t.Errorf("stacks do not begin at their root:\n%s", flame.Folded(stacks))
	}
}

func TestParsePprofSurvivesAnyProfile(t *testing.T) {
	whole := cpuProfile(t)
	random := rand.New(rand.NewSource(1))
	for range 300 {
		broken := bytes.Clone(whole[:random.Intn(len(whole))+1])
		broken[random.Intn(len(broken))] ^= byte(1 + random.Intn(255))
		_, _ = parsePprof(broken)
	}
	// A bomb: 1 GiB of zeros would be more than the pod has.
	var bomb bytes.Buffer
	zipper := gzip.NewWriter(&bomb)
	for range 1024 {
		if _, err := zipper.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	zipper.Close()
	if _, err := parsePprof(bomb.Bytes()); err == nil {
		t.Error("a bomb is a profile")
	}
}

// ourselves is this test as a target.
func ourselves() *target.Target {
	found, err := target.Of(os.Getpid())
	if err != nil {
		panic(err)
	}
	return found
}

func TestMeter(t *testing.T) {
	meter := Start(ourselves())
	burn(time.Now().Add(1100 * time.Millisecond))
	load := meter.Read()
	// On a full machine it waits instead.
	if load.Busy() < 0.3 || load.Used > 8 {
		t.Errorf("%+v", load)
	}
	for at := 1; at < len(load.Threads); at++ {
		if load.Threads[at].Busy() > load.Threads[at-1].Busy() {
			t.Errorf("the busiest thread is not first: %+v", load.Threads)
		}
	}
}

func TestAMeterWaitsFromItsStartAndTellsNothingOfLess(t *testing.T) {
	meter := Start(ourselves())
	burn(time.Now().Add(50 * time.Millisecond))
	if load := meter.Read(); !load.IsShort() || load.Busy() != 0 {
		t.Errorf("%+v", load)
	}
	meter.Wait(t.Context(), time.Second)
	if load := meter.Read(); load.IsShort() {
		t.Errorf("%+v", load)
	}
}

func TestALoadHasThreadsThatEndedAndTheOtherProcesses(t *testing.T) {
	folder := t.TempDir()
	uses := func(pid, ticks, start int) {
		stat := fmt.Sprintf("%d (web) S %s%d 0 %s%d", pid, strings.Repeat("0 ", 10), ticks, strings.Repeat("0 ", 6), start)
		if err := errors.Join(os.MkdirAll(fmt.Sprintf("%s/%d", folder, pid), 0o755), os.WriteFile(fmt.Sprintf("%s/%d/stat", folder, pid), []byte(stat), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var processes []target.Process
	for pid := 7; pid < 11; pid++ {
		uses(pid, 500, 1)
		processes = append(processes, target.Process{PID: pid})
	}
	meter := Start((&target.Target{Process: processes[0], Processes: processes}).In(target.FS(folder)))
	uses(7, 600, 1)
	uses(8, 540, 1)
	// Another has its number by now.
	uses(10, 900, 77)
	meter.Wait(t.Context(), time.Second)
	load := meter.Read()
	if seconds := load.Elapsed.Seconds(); math.Abs(load.Used*seconds-1) > 0.05 || math.Abs(load.Beside*seconds-0.4) > 0.05 || load.Others != 2 {
		t.Errorf("%+v", load)
	}
}

func TestWhy(t *testing.T) {
	blind := &Blind{target.Lack{Lacks: "x"}, "y"}
	if got := why(t.Context(), "z", blind); !errors.Is(got, blind) {
		t.Errorf("got %v", got)
	}
	if got := why(t.Context(), "z", errors.Join(errors.New("a"), errors.New("b"))).Error(); got != "z: a; b" {
		t.Errorf("got %q", got)
	}
	if pySpySaid(errors.New("py-spy> x Error: Failed to find python (exit status 1)")).Error() != "Failed to find python (exit status 1)" {
		t.Error("py-spy's reason is lost")
	}
}
