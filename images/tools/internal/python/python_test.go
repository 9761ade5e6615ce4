package python

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/target"
)

func TestLinesOfSamplesAreRead(t *testing.T) {
	samples := Parse("py-spy> Sampling process 50 times a second for 1 seconds. Press Control-C to exit.\n\n<module> (app.py:40);loop over (app.py:31) 15\nidle (x.py:1) 2\npy-spy> Wrote raw flamegraph data to '/dev/stdout'. Samples: 19 Errors: 0\nno number\n")
	if fmt.Sprint(samples) != "[{[loop over (app.py:31) <module> (app.py:40)] 15} {[idle (x.py:1)] 2}]" {
		t.Error(samples)
	}
}

func TestARefusalSaysWhatHelps(t *testing.T) {
	PySpy = filepath.Join(t.TempDir(), "py-spy")
	if err := os.WriteFile(PySpy, []byte("#!/bin/sh\necho 'Error: Permission denied (os error 13)' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := read(context.Background(), 1)
	if lack := lackOf(err, target.Self{}); len(lack.Helps) != 2 || lack.Helps[0] != "general" {
		t.Errorf("%+v", lack)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := Sample(ctx, &target.Target{Process: target.Process{PID: 1}}, time.Second); err == nil {
		t.Error("no error")
	}
}

func TestNamesOfAPythonProgramWriteNoLinesOfTheirOwn(t *testing.T) {
	const evil = "x\n\x1b[2J\u202e"
	var text strings.Builder
	write(&text, pythonThread{ID: 7, Name: evil, Frames: []frame{{Name: evil, Path: evil, Line: 3}}}, "computing")
	if text.String() != "x??[2J? (thread 7): computing\n    x??[2J? (x??[2J?:3)\n\n" {
		t.Errorf("%q", text.String())
	}
}

func TestBeforePython311OnlyThreadsWithItsLockAreSampled(t *testing.T) {
	for version, want := range map[string]string{"3.9": "--gil", "3.10.4": "--gil", "3.11": "", "3.13": "", "2.7": "", "": ""} {
		if got := strings.Join(OfBusy(&target.Target{Process: target.Process{Version: version}}), " "); got != want {
			t.Errorf("%s: %q", version, got)
		}
	}
}

// A process that is not stopped may call and return while its stack is read.
func TestAStackWithoutItsEndIsReadAgain(t *testing.T) {
	torn := `[{"thread_name":"MainThread","active":true,"frames":[{"name":"discount","filename":"/app.py","line":20}]}]`
	whole := `[{"thread_name":"MainThread","active":true,"frames":[{"name":"discount","filename":"/app.py","line":20},{"name":"<module>","filename":"/app.py","line":44}]}]`
	for name, each := range map[string]struct {
		answers []string
		frames  int
	}{
		"whole at once":          {[]string{whole, torn}, 2},
		"whole at the second":    {[]string{torn, whole}, 2},
		"a program's own start":  {[]string{torn, torn, torn, whole}, 1},
		"whole behind two torns": {[]string{torn, torn, whole}, 2},
	} {
		folder := t.TempDir()
		script := "#!/bin/sh\ncd " + folder + "\necho x >>count\ncat answer$(wc -l <count | tr -d ' ')\n"
		for number, answer := range each.answers {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("answer%d", number+1)), []byte(answer), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		program := filepath.Join(folder, "py-spy")
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // It is to run.
			t.Fatal(err)
		}
		before := PySpy
		PySpy = program
		threads, err := read(context.Background(), 1)
		PySpy = before
		if err != nil || len(threads) != 1 || len(threads[0].Frames) != each.frames {
			t.Errorf("%s: %v %v", name, threads, err)
		}
	}
}
