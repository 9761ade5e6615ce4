package begin

import (
	"slices"
	"testing"
)

func TestTheProgramGetsWhatWeMustNotObey(t *testing.T) {
	given := []string{"A=1", "GODEBUG=gctrace=1", "GOGC=1", "GOTRACEBACK=all", "A=2"}
	renamed, any := hide(slices.Clone(given))
	if want := []string{"A=1", "KDEBUG_OF_PROGRAM_GODEBUG=gctrace=1", "KDEBUG_OF_PROGRAM_GOGC=1", "GOTRACEBACK=all", "A=2"}; !any || !slices.Equal(renamed, want) {
		t.Errorf("%q", renamed)
	}
	if back := shown(append(renamed, refused)); !slices.Equal(back, given) {
		t.Errorf("%q", back)
	}
	if _, any := hide([]string{"A=1"}); any {
		t.Error("nothing was to be hidden")
	}
}
