package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// usingOnceMore runs a program once more in a container whose cgroup of version 2 has no limit; it then seems to use so many bytes.
func usingOnceMore(t *testing.T, bytes, limit string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"memory.current": "1000000\n", "memory.max": "max\n", "memory.stat": "inactive_file 0\n"} {
		path := filepath.Join(folder, name)
		if os.WriteFile(path, []byte(text), 0o600) != nil || os.Chmod(path, 0o666) != nil { //nolint:gosec // Another user writes there.
			t.Fatal("no cgroup")
		}
	}
	in := strings.Replace(enter, "exec ", "mount --bind "+folder+" /sys/fs/cgroup && exec ", 1)
	run := oncemoreIn(t, in, "15s", brief("waits", "/sys/fs/cgroup/memory.current", bytes)...)
	if run.Env = os.Environ(); limit != "" {
		run.Env = append(run.Env, limitVariable+"="+limit)
	}
	if code := run.ends(t); code != 7 {
		t.Errorf("exit code %d", code)
	}
	return run.out.String()
}

// Where the kernel kills all of the container together, what is in the log by then is all that there is.
func TestAProgramWhoseMemoryIsNearlyFullIsSeenInTheLog(t *testing.T) {
	out := usingOnceMore(t, "60000000", "64000000")
	// On a machine that gives it no CPU the end may come first.
	for range 3 {
		if !strings.Contains(out, "(brief) was in ") {
			out = usingOnceMore(t, "60000000", "64000000")
		}
	}
	seen := strings.Count(out, "\n"+sawWord+"memory 57 of 61 MiB after ")
	if seen != 1 || !strings.Contains(out, "(brief) was in rest+0x") || !strings.Contains(out, sawWord+"stack of thread ") || !strings.Contains(out, sawWord+"    main+0x") {
		t.Errorf("%d times:\n%s", seen, out)
	}
	if strings.LastIndex(out, sawWord) > strings.Index(out, "ended itself with exit code 7") {
		t.Errorf("behind the end:\n%s", out)
	}
}

func TestAProgramIsNotStoppedWhereItsMemoryIsNotNearlyFull(t *testing.T) {
	for name, each := range map[string]struct{ bytes, limit string }{
		"enough room": {"40000000", "64000000"}, "no limit": {"60000000", ""}, "no number": {"60000000", "64Mi"},
	} {
		if out := usingOnceMore(t, each.bytes, each.limit); strings.Contains(out, sawWord) {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
