package python

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	if lack := lackOf(err); len(lack.Helps) != 1 || lack.Helps[0] != "general" {
		t.Errorf("%+v", lack)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := Sample(ctx, 1, time.Second); err == nil {
		t.Error("no error")
	}
}
