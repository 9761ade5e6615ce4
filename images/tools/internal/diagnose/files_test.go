package diagnose

import (
	"os"
	"slices"
	"strings"
	"testing"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

func TestTheProcessNearestToItsLimitIsTold(t *testing.T) {
	for _, each := range []struct {
		what    string
		holders []holder
		partly  string
		text    string
		found   string
	}{
		{"none near it", []holder{{pid: 1, open: 9, sockets: 2, limit: 100}, {pid: 2, open: 80, limit: 1000}}, "",
			"the fullest process is 1: 9 open of 100, 9% (2 sockets)", ""},
		{"of equals the one with most", []holder{{pid: 1, open: 1, limit: 1000}, {pid: 2, open: 9, limit: 1000}}, "",
			"the fullest process is 2: 9 open of 1000, 0% (0 sockets)", ""},
		{"one near it", []holder{{pid: 1, open: 900, limit: 10_000}, {pid: 2, open: 180, limit: 200}}, "; 64 of 522 processes looked at",
			"the fullest process is 2: 180 open of 200, 90% (0 sockets); 64 of 522 processes looked at", "open files of process 2 at 90% of the limit (180 of 200)"},
		{"at the threshold", []holder{{pid: 1, open: 80, limit: 100}}, "", "the fullest process is 1: 80 open of 100, 80% (0 sockets)", ""},
		{"without a limit", []holder{{pid: 1, open: 9, sockets: 1}}, "", "9 open in process 1 (1 sockets), no limit known", ""},
		{"more than are counted", []holder{{pid: 1, open: 1000, limit: 1000, more: true}}, "",
			"the fullest process is 1: more than 1000 open of 1000, 100% (0 sockets)", "open files of process 1 at 100% of the limit (more than 1000 of 1000)"},
	} {
		part := rules.NewPart("files")
		tellFiles(part, each.holders, each.partly)
		found := ""
		if len(part.Findings) > 0 {
			found = part.Findings[0].Text
		}
		if part.Section.Text != each.text || found != each.found {
			t.Errorf("%s: %q, found %q", each.what, part.Section.Text, found)
		}
	}
}

// lookAtOurselves is a look whose target is this process, in the order in which the sections begin.
func lookAtOurselves(t *testing.T) *Look {
	t.Helper()
	self, err := target.OneOf(os.Getpid())
	must(t, err)
	look := &Look{Target: self, Self: target.Whoami(), Settings: Settings{Compare: key}}
	for _, each := range []section{&processesSection{}, &ioSection{}, &filesSection{}} {
		each.begin(look)
	}
	return look
}

func TestTheFilesOfOurselvesAreSeen(t *testing.T) {
	look := lookAtOurselves(t)
	part := (&filesSection{}).end(look)
	if part.Section.State != report.OK || !strings.HasPrefix(part.Section.Text, "the fullest process is ") || !look.open.complete {
		t.Errorf("%+v, complete %v", part.Section, look.open.complete)
	}
	if !slices.ContainsFunc(look.facts, func(fact report.Fact) bool { return fact.Group == "files" && *fact.Number > 0 }) {
		t.Errorf("%+v", look.facts)
	}
}

func TestWhatIsInNoContainerHasNoFilesOfItsOwn(t *testing.T) {
	look := lookAtOurselves(t)
	of := &filesystemSection{}
	of.begin(look)
	if part := of.end(look); part.Section.State != report.NotLookedAt {
		t.Errorf("%+v", part.Section)
	}
}

func TestWhoDoesNotLetUsLookMakesFourSectionsBlind(t *testing.T) {
	look := lookAtOurselves(t)
	stranger := *look.Target
	stranger.Readable, stranger.UID, stranger.Permitted = false, 4711, 0
	look.Target, look.open, look.Self = &stranger, openFiles{}, target.Self{}
	for _, each := range []struct {
		of   section
		text string
	}{
		{&filesSection{}, "the target's open files are not readable; "},
		{&filesystemSection{}, "the target's files are not readable; "},
		{&environmentSection{}, "the target's environment is not readable; "},
		{&runtimeSection{}, "only the command line is readable: no flag or variable that sizes a JVM, Node.js, Go or .NET; "},
	} {
		each.of.begin(look)
		section := each.of.end(look).Section
		if section.State != report.NotReadable || !strings.HasPrefix(section.Text, each.text) || section.Lacks == "" ||
			!slices.Equal(section.Helps, []string{report.Identity, report.General, report.Sysadmin}) {
			t.Errorf("%+v", section)
		}
	}
}

func TestASecurityModuleIsTheReasonAndNoProfileBelowSysadminHelps(t *testing.T) {
	folder := folderWith(t, map[string]string{"7/attr/current": "unconfined\n"})
	it := &target.Target{Process: target.Process{PID: 7, Status: target.Status{UID: 10001, GID: 10001}}}
	look := &Look{Target: it.In(target.FS(folder)), Self: target.Self{UID: 10001, GID: 10001, Label: "cri-containerd.apparmor.d (enforce)"}}
	section := look.blind(rules.NewPart("files"), "the target's open files are not readable").Section
	const why = "the AppArmor profile of the target: its own is unconfined, ours cri-containerd.apparmor.d (enforce)"
	if section.Lacks != why || section.Text != "the target's open files are not readable; it lacks "+why || !slices.Equal(section.Helps, []string{report.Sysadmin}) {
		t.Errorf("%+v", section)
	}
}

func TestTheNamesOfVariablesAreToldAndNoValue(t *testing.T) {
	look := lookAtOurselves(t)
	of := &environmentSection{}
	of.begin(look)
	// What this process has depends on who tests.
	look.environment = environment{}
	look.environment.add(nil, nul("PASSWORD=hunter2", "MANY=one\nLINES=two"))
	part := of.end(look)
	if part.Section.Text != "2 names and 0 of services; values are never read out" || !slices.Equal(part.Lines, []string{"PASSWORD MANY"}) {
		t.Errorf("%+v, %q", part.Section, part.Lines)
	}
}

func TestALongListOfNamesIsWrapped(t *testing.T) {
	lines := wrapped(slices.Repeat([]string{"ABCDEFGHI"}, 40), 100)
	if len(lines) != 4 || len(lines[0]) != 109 || strings.Count(strings.Join(lines, " "), "ABCDEFGHI") != 40 {
		t.Errorf("%q", lines)
	}
	if lines := wrapped(nil, 100); len(lines) != 0 {
		t.Errorf("%q", lines)
	}
}

func TestASilentVolumeKeepsUsFromTheFiles(t *testing.T) {
	look := lookAtOurselves(t)
	look.silent = func() []string { return []string{"/dead"} }
	of := &filesystemSection{seen: make(chan found, 1)}
	part := of.end(look)
	if part.Section.State != report.NotReadable || part.Section.Text != "not looked at, since /dead does not answer" || part.Section.Lacks != "an answer of a volume" {
		t.Errorf("%+v", part.Section)
	}
}
