package main

import (
	"testing"

	"kdebug/tools/internal/unwind"
)

func TestAFrameOfJavaHasItsFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		"shop.Ledger.post(Ledger.java:12)":                        "shop.Ledger.post (Ledger.java:12)",
		"java.lang.Thread.sleep(java.base@17.0.15/Native Method)": "java.lang.Thread.sleep+0x0 (java)",
		"java.util.HashMap.put(java.base@21/HashMap.java:610)":    "java.util.HashMap.put (HashMap.java:610)",
		"what": "what+0x0 (java)",
	} {
		if got := nameOf(javaFrame(text)); got != want {
			t.Errorf("%s is %q", text, got)
		}
	}
}

func TestAThreadInTheProgramsOwnCodeIsToldFirst(t *testing.T) {
	frame := unwind.Frame{Function: "f"}
	read := scripts{frames: map[int][]unwind.Frame{2: {frame}, 3: {frame}}, own: map[int]unwind.Frame{3: frame}}
	for _, each := range []struct {
		order []int
		want  int
	}{{[]int{1, 2, 3}, 3}, {[]int{1, 2}, 2}, {[]int{1, 4}, 1}} {
		if got := read.first(each.order); got != each.want {
			t.Errorf("%v: %d", each.order, got)
		}
	}
	if (scripts{}).first([]int{5, 6}) != 5 {
		t.Error("without a script the first is told")
	}
}
