package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// rootWith makes a root of a target with files of these sizes.
func rootWith(t *testing.T, files map[string]int) string {
	t.Helper()
	root := t.TempDir()
	for name, size := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSpaceOfAFolderIsCountedOnceAndWithoutLinks(t *testing.T) {
	root := rootWith(t, map[string]int{"tmp/a": 3 * mib, "tmp/deep/b": mib, "other/c": 5 * mib})
	must(t, os.Link(filepath.Join(root, "tmp/a"), filepath.Join(root, "tmp/same")))
	must(t, os.Symlink("../other", filepath.Join(root, "tmp/link")))
	must(t, os.Symlink("other", filepath.Join(root, "linked")))
	counter := newUsage()
	if bytes, is := counter.of(root, "/tmp"); !is || bytes/mib != 4 || !counter.whole {
		t.Errorf("%d bytes, %v, all counted %v", bytes, is, counter.whole)
	}
	for _, name := range []string{"/linked", "/none", "/tmp/a"} {
		if bytes, is := counter.of(root, name); is {
			t.Errorf("%s is no folder and has %d bytes", name, bytes)
		}
	}
}

func TestCountingOfFilesHasAnEnd(t *testing.T) {
	root := rootWith(t, map[string]int{"tmp/a": 1, "tmp/b": 1, "tmp/c": 1})
	few := newUsage()
	few.left = 2
	if few.of(root, "/tmp"); few.whole {
		t.Error("a third file is counted")
	}
	late := newUsage()
	late.until = time.Now()
	if late.of(root, "/tmp"); late.whole {
		t.Error("it goes on when the time is over")
	}
	deep := strings.Repeat("d/", maxDepths+2)
	must(t, os.MkdirAll(filepath.Join(root, "var/log", deep), 0o755))
	down := newUsage()
	if down.of(root, "/var/log"); down.whole {
		t.Error("it goes down without an end")
	}
}

func TestCoreFilesAreFoundByTheirNamesAndOnce(t *testing.T) {
	root := rootWith(t, map[string]int{"core.7": 1, "tmp/core.js": 1, "tmp/core": 1, "var/tmp/core.host.99": 1, "tmp/score.1": 1, "work/core": 1})
	must(t, os.Mkdir(filepath.Join(root, "tmp/core.1"), 0o755))
	must(t, os.Symlink("core", filepath.Join(root, "tmp/core.2")))
	must(t, syscall.Mkfifo(filepath.Join(root, "tmp/core.3"), 0o600))
	must(t, os.Link(filepath.Join(root, "core.7"), filepath.Join(root, "core.8")))
	cwd := filepath.Join(t.TempDir(), "cwd")
	must(t, os.Symlink(filepath.Join(root, "work"), cwd))
	all := findCores(root, cwd)
	if len(all.found) != 4 || all.more || !slices.Contains(all.found, "/tmp/core") || !slices.Contains(all.found, filepath.Join(root, "work/core")) {
		t.Errorf("%+v", all)
	}
	// Not the folder that the working directory is, twice.
	same := filepath.Join(t.TempDir(), "cwd")
	must(t, os.Symlink(root, same))
	if again := findCores(root, same); len(again.found) != 3 {
		t.Errorf("%+v", again)
	}
}

func TestOfVeryManyCoreFilesSomeAreNamed(t *testing.T) {
	files := map[string]int{}
	for number := range 100 {
		files[fmt.Sprintf("tmp/core.%d", number)] = 0
	}
	part := rules.NewPart("filesystem")
	findCores(rootWith(t, files), "/nonexistent").tell(part)
	finding := part.Findings[0]
	if *finding.Value != maxCores || !strings.HasPrefix(finding.Text, "64 or more core files of a crashed process, one is /tmp/core.") {
		t.Errorf("%+v", finding)
	}
}

func TestTheTokensAgeIsThatOfItsFolder(t *testing.T) {
	root := rootWith(t, map[string]int{"run/secrets/kubernetes.io/serviceaccount/token": 5})
	if at := renewed(root); !at.IsZero() {
		t.Errorf("a folder that the kubelet did not make was renewed at %v", at)
	}
	data := filepath.Join(root, "run/secrets/kubernetes.io/serviceaccount/..data")
	must(t, os.Symlink("..2026", data))
	if at := renewed(root); time.Since(at) > time.Hour {
		t.Errorf("renewed at %v", at)
	}
	now := time.Now()
	for hours, isOld := range map[int]bool{-1: false, 25: false, 30: true} {
		seen := found{counted: true, token: now.Add(-time.Duration(hours) * time.Hour)}
		if findings := told(rules.NewPart("filesystem"), seen, now); len(findings) == 1 != isOld {
			t.Errorf("%d hours: %+v", hours, findings)
		}
	}
}

func told(part *rules.Part, seen found, now time.Time) []report.Finding {
	seen.tell(part, now)
	return part.Findings
}

func TestTemporaryFilesAreFoundByTheirSize(t *testing.T) {
	part := rules.NewPart("filesystem")
	held := []heldBy{{"/tmp", 1100 * mib}, {"/var/log", 26*mib + 5}, {"/dev/shm", 0}}
	findings := told(part, found{held: held, counted: true}, time.Now())
	if len(findings) != 1 || *findings[0].Value != 1126 || findings[0].Text != "temporary files and logs hold 1126 MiB: /tmp 1100 MiB /var/log 26 MiB" {
		t.Errorf("%+v", findings)
	}
	if part.Section.Text != "; 1126 MiB temporary files and logs" {
		t.Error(part.Section.Text)
	}
	some := rules.NewPart("filesystem")
	if told(some, found{held: held[2:]}, time.Now()); some.Section.Text != "; too many files to count all of them; at least 0 MiB temporary files and logs" {
		t.Error(some.Section.Text)
	}
}

func TestFoldersThatEverybodyMayWriteToAreNamed(t *testing.T) {
	root := rootWith(t, map[string]int{"etc/x": 0, "tmp/x": 0, "opt/x": 0, "usr/bin/x": 0})
	must(t, os.Chmod(filepath.Join(root, "etc"), 0o777))
	must(t, os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky))
	// A link has the mode 0777, whatever it leads to.
	must(t, os.Symlink("usr/bin", filepath.Join(root, "bin")))
	if open := openToAll(root, "/nonexistent"); !slices.Equal(open, []string{"/etc"}) {
		t.Errorf("%q", open)
	}
}

func TestMountsAreTold(t *testing.T) {
	part := rules.NewPart("filesystem")
	tellMounts(part, readMounts(strings.NewReader(someMounts)))
	if part.Section.Text != "9 mounts, the root is writable" {
		t.Error(part.Section.Text)
	}
	if want := []string{"mount / overlay rw,relatime", "mount /etc/hosts ext4 rw,relatime"}; !slices.Equal(part.Lines[:2], want) {
		t.Errorf("%q", part.Lines)
	}
	many := rules.NewPart("filesystem")
	tellMounts(many, readMounts(strings.NewReader("1 1 0:1 / / ro - overlay o rw\n"+strings.Repeat("22 1 0:21 / /a rw - tmpfs t rw\n", 50))))
	if len(many.Lines) != shownMounts || many.Section.Text != "51 mounts, the root is read-only" {
		t.Errorf("%d lines, %s", len(many.Lines), many.Section.Text)
	}
}
