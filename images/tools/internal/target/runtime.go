package target

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Runtime is what runs a process.
type Runtime string

// The runtimes that can be told apart. Native is a program of which we know that it is none of the others.
const (
	JVM     Runtime = "jvm"
	Python  Runtime = "python"
	Node    Runtime = "node"
	Go      Runtime = "go"
	Ruby    Runtime = "ruby"
	DotNet  Runtime = "dotnet"
	Native  Runtime = "native"
	Unknown Runtime = "unknown"
)

// maxMaps bounds what is read of /proc/PID/maps: the target chooses its length.
const maxMaps = 4 << 20

// RuntimeOf finds out what runs a process: from its program and libraries, where we may see them, else from its command
// line, which is a guess that is never Go or native.
func (fs FS) RuntimeOf(pid int) (Runtime, string) {
	runtime, version := fs.saidRuntime(pid)
	if !IsVersion(version) {
		version = ""
	}
	return runtime, version
}

// IsVersion is whether a text may be told as a version: digits and dots, and the underscore of "1.8.0_402", at most 20. What a program or a
// file of the target says may be anything.
func IsVersion(text string) bool {
	const most = 20
	return text != "" && len(text) <= most && strings.Trim(text, "0123456789._") == ""
}

func (fs FS) saidRuntime(pid int) (Runtime, string) {
	exe, err := os.Readlink(fs.Path(pid, "exe"))
	if err != nil {
		return byCommand(fs.Cmdline(pid))
	}
	if runtime, version := byName(path.Base(strings.TrimSuffix(exe, " (deleted)"))); runtime != Unknown {
		switch runtime {
		case JVM:
			version = fs.javaVersion(pid, exe)
		case DotNet:
			// The command line's tool as well as the host of a program.
			_, version = fs.byLibraries(pid)
		}
		return runtime, version
	}
	// A program that holds a runtime: an application server, uwsgi, an Electron-like bundle.
	if runtime, version := fs.byLibraries(pid); runtime != Unknown {
		return runtime, version
	}
	return byProgram(fs.Path(pid, "exe"))
}

// HasJVM is whether a JVM is in the process: its name alone does not say so, and SIGQUIT ends most other programs. It needs Readable.
func (t *Target) HasJVM() bool {
	file, err := os.Open(t.fs.Path(t.PID, "maps"))
	if err != nil {
		return false
	}
	defer file.Close()
	runtime, _ := libraryAmong(io.LimitReader(file, 4*maxMaps))
	return runtime == JVM
}

func byName(name string) (Runtime, string) {
	switch {
	case name == "java":
		return JVM, ""
	case name == "node" || name == "nodejs":
		return Node, ""
	case name == "dotnet":
		return DotNet, ""
	}
	for _, each := range []struct {
		name    string
		runtime Runtime
	}{{"python", Python}, {"pypy", Python}, {"ruby", Ruby}, {"truffleruby", Ruby}} {
		if version, is := strings.CutPrefix(name, each.name); is && strings.Trim(version, "0123456789.") == "" {
			return each.runtime, version
		}
	}
	return Unknown, ""
}

func byCommand(command []string) (Runtime, string) {
	if len(command) == 0 {
		return Unknown, ""
	}
	return byName(path.Base(command[0]))
}

// javaVersion reads the file release that each JDK has.
func (fs FS) javaVersion(pid int, exe string) string {
	file, err := fs.openInRoot(pid, filepath.Join(filepath.Dir(filepath.Dir(exe)), "release"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, 64*1024))
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "JAVA_VERSION=\""); is {
			version, _, closed := strings.Cut(rest, "\"")
			if closed {
				return version
			}
		}
	}
	return ""
}

// openInRoot opens a file of the target for reading: a regular one, and never one outside the target's root, whatever
// links the target made.
func (fs FS) openInRoot(pid int, name string) (*os.File, error) {
	root, err := os.OpenRoot(fs.Path(pid, "root"))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return OpenRegular(root, strings.TrimPrefix(filepath.Clean("/"+name), "/"))
}

// OpenRegular opens a regular file below a root that a target may write to. It looks before it opens, for opening a device does something, and once
// more behind that, for the target may have put another file there meanwhile.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s is not a regular file", name))
	}
	// Not to wait for the writer of a pipe.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return file, nil
}

// readAtMost gives the beginning of a file of /proc, or nothing.
func readAtMost(name string, most int64) string {
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, most))
	return string(text)
}
