package main

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// imageOf is the program as the image has it: to be run but not read, with a packed copy beside it.
func imageOf(t *testing.T) string {
	t.Helper()
	if parentOnce.Do(buildParent); parentBuilt != nil {
		t.Skip("it could not be built: ", parentBuilt)
	}
	folder, err := os.MkdirTemp("", "blackbox-")
	if err != nil || os.Chmod(folder, 0o777) != nil { //nolint:gosec // Another user writes there.
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	program, err := os.ReadFile(filepath.Join(parentDir, "blackbox"))
	if err != nil || os.WriteFile(filepath.Join(folder, "blackbox"), program, 0o111) != nil { //nolint:gosec // It is to run.
		t.Fatal(err)
	}
	packed, err := os.OpenFile(filepath.Join(folder, "blackbox.gz"), os.O_CREATE|os.O_WRONLY, 0o444) //nolint:gosec // All may read it.
	if err != nil {
		t.Fatal(err)
	}
	writer, _ := gzip.NewWriterLevel(packed, gzip.BestSpeed)
	_, _ = writer.Write(program)
	if writer.Close() != nil || packed.Close() != nil {
		t.Fatal("not packed")
	}
	return folder
}

func TestAProgramThatCannotBeReadCarriesItself(t *testing.T) {
	folder := imageOf(t)
	ours, copied := filepath.Join(folder, "blackbox"), filepath.Join(folder, "copy")
	run := contain(t, ours, "carry", copied)
	if code := run.ends(t); code != 0 || run.out.Len() != 0 {
		t.Fatalf("%d %s", code, run.out.String())
	}
	if info, err := os.Stat(copied); err != nil || info.Mode() != 0o555 {
		t.Error(err)
	}
	key, err := os.ReadFile(run.log)
	if err != nil || len(key) != 32 {
		t.Fatalf("%q %v", key, err)
	}
	again := contain(t, copied, "once-more", "--for=5s", "--", "sh", "-c", "ls "+folder+"; exit 3")
	again.tells(t, 3, "ended itself with exit code 3", "died_of_exit")
	if report, _ := os.ReadFile(again.log); !strings.Contains(string(report), `"key":"`+string(key)+`"`) {
		t.Errorf("not the key %s: %s", key, report)
	}
	if strings.Contains(again.out.String(), "copy") {
		t.Errorf("the program sees what its tracer was: %s", again.out.String())
	}
}

func TestWhatCannotBeCarriedSaysWhyInOneLine(t *testing.T) {
	folder := imageOf(t)
	ours := filepath.Join(folder, "blackbox")
	for name, each := range map[string]struct {
		words []string
		want  string
	}{
		"something is there": {[]string{"carry", ours}, "Not carried: open " + ours + ": file exists.\n"},
		"a folder is not":    {[]string{"carry", "/no/such/place"}, "Not carried: open /no/such/place: no such file or directory.\n"},
		"no right":           {[]string{"carry", "/copy"}, "Not carried: open /copy: permission denied.\n"},
		"no path":            {[]string{"carry"}, "Not carried: carry takes the one path to copy this program to.\n"},
		"two paths":          {[]string{"carry", "/a", "/b"}, "Not carried: carry takes the one path to copy this program to.\n"},
	} {
		run := contain(t, append([]string{ours}, each.words...)...)
		code := run.ends(t)
		text, _ := os.ReadFile(run.log)
		if code != 1 || run.out.String() != each.want || string(text) != each.want {
			t.Errorf("%s: %d %q %q", name, code, run.out.String(), text)
		}
	}
	late := contain(t, ours, "carry", filepath.Join(folder, "late"))
	late.Env = append(os.Environ(), "KDEBUG_NOT_AFTER=2024-05-01T10:00:00Z")
	if code := late.ends(t); code != 1 || !strings.HasPrefix(late.out.String(), "Started too late: ") {
		t.Errorf("%d %s", code, late.out.String())
	}
	if _, err := os.Stat(filepath.Join(folder, "late")); err == nil {
		t.Error("it was carried too late")
	}
}

// A child that may not be read may not be traced either, as where the kernel refuses ptrace.
func TestAProgramThatMayNotBeTracedRunsAllTheSame(t *testing.T) {
	for _, each := range []struct {
		program        string
		code           int
		words, finding string
	}{
		{"exit 3", 3, "(sh) ended itself with exit code 3. It was not traced: ", "died_of_exit"},
		{"kill -SEGV $$", 139, "(sh) died of SIGSEGV. It was not traced: ", "died_of_signal"},
		{"exit 0", 0, "(sh) ended itself with exit code 0. It was not traced: ", ""},
		{"sleep 100 & trap '' TERM; sleep 100", exitOver, "(sh) was still running after 1 s and was ended. It was not traced: ", ""},
		{"exec /no/such", 127, "(sh) ended itself with exit code 127. It was not traced: ", "died_of_exit"},
	} {
		run := contain(t, filepath.Join(imageOf(t), "blackbox"), "once-more", "--for=1s", "--", "sh", "-c", each.program)
		run.tells(t, each.code, each.words, each.finding)
	}
	run := contain(t, filepath.Join(imageOf(t), "blackbox"), "once-more", "--for=1s", "--", "nope")
	run.tells(t, 127, "Could not start: exec: \"nope\": executable file not found in $PATH.", "")
}

func TestOtherWordsAreStillRefused(t *testing.T) {
	folder := imageOf(t)
	for _, words := range [][]string{{"stop", "abcdefgh23"}, {"--help"}, {""}} {
		run := contain(t, append([]string{filepath.Join(folder, "blackbox")}, words...)...)
		if code := run.ends(t); code != 2 || !strings.HasPrefix(run.out.String(), "blackbox does nothing: it takes no words") {
			t.Errorf("%q: %d %s", words, code, run.out.String())
		}
	}
	hidden := contain(t, filepath.Join(folder, "blackbox"), "begin", "3", "4", "true")
	if code := hidden.ends(t); code != refused {
		t.Errorf("%d %s", code, hidden.out.String())
	}
}

// A program that stays where the second program can read it has no key: that program could give it away.
func TestACopyThatCannotBeRemovedUsesNoKey(t *testing.T) {
	folder := imageOf(t)
	copied := filepath.Join(folder, "copy")
	if code := contain(t, filepath.Join(folder, "blackbox"), "carry", copied).ends(t); code != 0 {
		t.Fatal(code)
	}
	if err := errors.Join(os.Chown(folder, 0, 0), os.Chown(copied, 0, 0), os.Chmod(folder, 0o777|os.ModeSticky)); err != nil { //nolint:gosec // As init containers do.
		t.Fatal(err)
	}
	run := contain(t, copied, "once-more", "--for=5s", "--", "sh", "-c", "exit 3")
	run.tells(t, 3, "ended itself with exit code 3", "died_of_exit")
	if report, _ := os.ReadFile(run.log); strings.Contains(string(report), `"key"`) {
		t.Errorf("%s", report)
	}
}

// Rights that a file gives are lost when a traced process runs it, so a program that has them is not traced.
func TestAProgramWithRightsOfItsOwnIsNotTraced(t *testing.T) {
	folder := imageOf(t)
	program := filepath.Join(folder, "shell")
	shell, err := os.ReadFile("/bin/sh")
	if err != nil || os.WriteFile(program, shell, 0o755) != nil || os.Chmod(program, 0o755|os.ModeSetuid) != nil { //nolint:gosec // It is to have the bit.
		t.Fatal(err)
	}
	for _, each := range []struct {
		words []string
		want  string
	}{
		{[]string{program, "-c", "exit 3"}, "It was not traced: its file gives it rights"},
		{[]string{"sh", "-c", "exec " + program + " -c 'exit 3'"}, "It ran without the rights that its file gives"},
	} {
		run := containWith(t, mayGainRights, append([]string{filepath.Join(parentDir, "blackbox"), "once-more", "--for=5s", "--"}, each.words...)...)
		run.tells(t, 3, each.want, "died_of_exit")
	}
}

func TestTheVariablesOfTheProgramAreNotObeyed(t *testing.T) {
	run := contain(t, filepath.Join(imageOf(t), "blackbox"), "once-more", "--for=5s", "--", "sh", "-c", "echo $GODEBUG; exit 3")
	run.Env = append(os.Environ(), "GODEBUG=gctrace=1,inittrace=1")
	run.tells(t, 3, "ended itself with exit code 3", "died_of_exit")
	if out := run.out.String(); !strings.Contains(out, "gctrace=1,inittrace=1\n") || strings.Contains(out, "gc 1 @") {
		t.Error(out)
	}
}

// Where a node gives huge pages to everybody, ours would double what the watch takes of the pod.
func TestTheProgramHasTheHugePagesThatWeRefuse(t *testing.T) {
	run := contain(t, filepath.Join(imageOf(t), "blackbox"), "once-more", "--for=5s", "--", "sh", "-c", "grep -h THP_enabled /proc/self/status /proc/1/status; env; exit 3")
	run.tells(t, 3, "ended itself with exit code 3", "died_of_exit")
	if out := run.out.String(); !strings.Contains(out, "THP_enabled:\t1\nTHP_enabled:\t0\n") || strings.Contains(out, "HUGE_PAGES") {
		t.Error(out)
	}
}
