package run

import (
	"strings"
	"testing"
)

func TestWordsAreRefused(t *testing.T) {
	var out strings.Builder
	if code := refuse(&out, "net", []string{"stop", "abcdefgh23"}); code != 2 {
		t.Errorf("exit code %d", code)
	}
	if want := "net does nothing: it takes no words, and does not know \"stop\".\n"; out.String() != want {
		t.Errorf("it wrote %q", out.String())
	}
}

func TestWithoutWordsThereIsNothingToRefuse(t *testing.T) {
	var out strings.Builder
	if code := refuse(&out, "net", nil); code != 0 || out.Len() != 0 {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}
