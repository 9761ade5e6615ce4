package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// As the program: it starts itself to ask the file systems of others.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case VolumesCommand:
			AnswerVolumes(os.Stdout, os.Args[2:])
			return
		case deadVolume:
			serveNothing(os.Args[2])
			return
		}
	}
	os.Exit(m.Run())
}

// askHanging answers like a kernel in which the paths that end in "dead" hang, in that state.
func askHanging(state byte) func([]string) asker {
	return func(paths []string) asker {
		answers := make(chan disk, len(paths))
		for _, each := range paths {
			if strings.HasSuffix(each, "dead") {
				break
			}
			answers <- disk{blocks: 100, available: 40}
		}
		return asker{answers, func() byte { return state }, func() {}}
	}
}

func TestAVolumeThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	for _, each := range []struct {
		what             string
		points           []string
		state            byte
		answered, silent []string
	}{
		{"all answer", []string{"/", "/data"}, 'S', []string{"/", "/data"}, nil},
		{"one waits in the kernel", []string{"/", "/dead", "/data"}, 'D', []string{"/", "/data"}, []string{"/dead"}},
		{"what runs lacks a CPU, not an answer", []string{"/", "/dead", "/data"}, 'R', []string{"/", "/data"}, nil},
		{"what has not begun is not known to hang", []string{"/dead", "/data"}, 0, []string{"/data"}, nil},
		{"after two that hang the rest is not asked", []string{"/1/dead", "/2/dead", "/3/dead", "/data"}, 'D', nil, []string{"/1/dead", "/2/dead"}},
	} {
		got := askAll("/root", each.points, askHanging(each.state), 20*time.Millisecond)
		var answered []string
		for _, one := range got.disks {
			answered = append(answered, one.path)
		}
		if !slices.Equal(answered, each.answered) || !slices.Equal(got.silent, each.silent) {
			t.Errorf("%s: %v answered, %v silent", each.what, answered, got.silent)
		}
	}
}

func TestAnAskerThatEndsEarlyHoldsUpNothing(t *testing.T) {
	got := askAll("", []string{"/a", "/b"}, func(paths []string) asker {
		answers := make(chan disk)
		close(answers)
		return asker{answers, func() byte { return 'D' }, func() {}}
	}, time.Minute)
	if len(got.disks)+len(got.silent) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestFileSystemsAreAskedByAThreadAndByAProcess(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"local", "nfs"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := askVolumes(root, []mount{{point: "/local", kind: "ext4"}, {point: "/nfs", kind: "nfs4"}, {point: "/gone", kind: "ext4"}})()
	if len(got.disks) != 2 || got.disks[0].path != "/local" || got.disks[1].path != "/nfs" || len(got.silent) != 0 {
		t.Fatalf("%+v", got)
	}
	// Others use the disk meanwhile, so that what is free may differ.
	if got.disks[0].blocks == 0 || got.disks[0].blocks != got.disks[1].blocks {
		t.Errorf("%+v", got.disks)
	}
}

func TestTheStateOfAProcessIsTheKernelsLetter(t *testing.T) {
	if state := stateOf("/proc/self"); state == 0 {
		t.Error("our own state is not known")
	}
	if state := stateOf("/proc/0"); state != 0 {
		t.Errorf("a process that is not there has the state %c", state)
	}
}
