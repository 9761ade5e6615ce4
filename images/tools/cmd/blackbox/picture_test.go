package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fullOnceMore runs a program once more, in a container whose cgroup of version 2 has no limit and these MiB in use.
func fullOnceMore(t *testing.T, mebibytes, limit string, program ...string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"memory.current": mebibytes + "000000\n", "memory.max": "max\n", "memory.stat": "inactive_file 0\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // Another user is to read it.
			t.Fatal(err)
		}
	}
	in := strings.Replace(enter, "exec ", "mount --bind "+folder+" /sys/fs/cgroup && exec ", 1)
	run := oncemoreIn(t, in, "15s", program...)
	if run.Env = append(os.Environ(), limitVariable+"="+limit); limit == "" {
		run.Env = os.Environ()
	}
	_ = run.ends(t)
	return run.out.String()
}

// Where the kernel kills all of the container together, what is in the log by then is all that there is.
func TestAProgramWhoseMemoryIsNearlyFullIsSeenInTheLog(t *testing.T) {
	out := fullOnceMore(t, "60", "64000000", brief("waits")...)
	seen := strings.Count(out, "\n"+sawWord+"memory 57 of 61 MiB after ")
	if seen != 1 || !strings.Contains(out, "(brief) was in rest+0x") || !strings.Contains(out, sawWord+"stack of thread ") || !strings.Contains(out, sawWord+"    main+0x") {
		t.Errorf("%d times:\n%s", seen, out)
	}
	if strings.LastIndex(out, sawWord) > strings.Index(out, "ended itself with exit code 7") {
		t.Errorf("behind the end:\n%s", out)
	}
}

func TestAProgramIsNotStoppedWhereItsMemoryIsNotNearlyFull(t *testing.T) {
	for name, each := range map[string]struct{ used, limit string }{
		"enough room": {"40", "64000000"}, "no limit": {"60", ""}, "no number": {"60", "64Mi"},
	} {
		if out := fullOnceMore(t, each.used, each.limit, brief("waits")...); strings.Contains(out, sawWord) || !strings.Contains(out, "exit code 7") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
