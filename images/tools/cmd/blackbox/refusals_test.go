package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASecondRunIsRefused(t *testing.T) {
	parentOnce.Do(buildParent)
	ours := filepath.Join(parentDir, "blackbox")
	for name, words := range map[string][]string{
		"no words": {}, "no time": {"--", "true"}, "no program": {"--for=5s", "--"}, "no end of the words": {"--for=5s", "true"},
		"too short": {"--for=0s", "--", "true"}, "too long": {"--for=13h", "--", "true"}, "no number": {"--for=soon", "--", "true"}, "two units": {"--for=1m5s", "--", "true"},
	} {
		run := contain(t, append([]string{ours, "once-more"}, words...)...)
		code := run.ends(t)
		text, _ := os.ReadFile(run.log)
		if code != refused || !strings.HasPrefix(run.out.String(), "Not started: ") || string(text) != run.out.String() {
			t.Errorf("%s: %d %q %q", name, code, run.out.String(), text)
		}
	}
	late := contain(t, ours, "once-more", "--for=5s", "--", "true")
	late.Env = append(os.Environ(), "KDEBUG_NOT_AFTER=2024-05-01T10:00:00Z")
	if code := late.ends(t); code != refused || !strings.HasPrefix(late.out.String(), "Started too late: ") {
		t.Errorf("%d %s", code, late.out.String())
	}
	second := contain(t, "sh", "-c", ours+" once-more --for=5s -- true; exit $?")
	if code := second.ends(t); code != refused || !strings.Contains(second.out.String(), "the first process") {
		t.Errorf("%d %s", code, second.out.String())
	}
	if _, err := os.Stat(ours); err != nil {
		t.Error("it removed itself")
	}
}
