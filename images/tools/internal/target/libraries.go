package target

import (
	"bufio"
	"io"
	"os"
	"path"
	"strings"
)

// byLibraries finds the runtime that a process has mapped as a library: an application server, uwsgi, an Electron-like bundle. Of several, the one that
// holds the others: Java, Python, Node, Ruby, .NET.
func (fs FS) byLibraries(pid int) (Runtime, string) {
	file, err := os.Open(fs.Path(pid, "maps"))
	if err != nil {
		return Unknown, ""
	}
	defer file.Close()
	return libraryAmong(io.LimitReader(file, maxMaps))
}

func libraryAmong(maps io.Reader) (Runtime, string) {
	best, found, bestVersion := len(libraries), Unknown, ""
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		_, file, is := strings.Cut(lines.Text(), "/")
		if !is {
			continue
		}
		for index, each := range libraries[:best] {
			if version, is := each.version("/"+file, path.Base(file)); is {
				best, found, bestVersion = index, each.runtime, version
				break
			}
		}
	}
	return found, bestVersion
}

// libraries by their rank; version is false for a file that is not of this one.
var libraries = []struct {
	runtime Runtime
	version func(file, name string) (string, bool)
}{
	{JVM, func(_, name string) (string, bool) {
		return "", strings.HasPrefix(name, "libjvm.so") || strings.HasPrefix(name, "libj9vm")
	}},
	{Python, func(_, name string) (string, bool) {
		rest, is := strings.CutPrefix(name, "libpython")
		version := firstVersion(rest)
		return version, is && version != "" && strings.Contains(rest, ".so")
	}},
	{Node, func(_, name string) (string, bool) { return "", strings.HasPrefix(name, "libnode.so") }},
	{Ruby, func(_, name string) (string, bool) {
		_, number, _ := strings.Cut(name, ".so.")
		return firstVersion(number), strings.HasPrefix(name, "libruby") && strings.Contains(name, ".so")
	}},
	{DotNet, func(file, name string) (string, bool) {
		_, rest, _ := strings.Cut(file, "/Microsoft.NETCore.App/")
		version, _, _ := strings.Cut(rest, "/")
		if len(version) > 21 || strings.Trim(version, "0123456789.") != "" {
			version = ""
		}
		return version, strings.HasPrefix(name, "libcoreclr.so")
	}},
}

// firstVersion is the "3.11" that a text begins with, or nothing.
func firstVersion(text string) string {
	const digits = "0123456789"
	major := text[:len(text)-len(strings.TrimLeft(text, digits))]
	rest, dot := strings.CutPrefix(text[len(major):], ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
	if major == "" || minor == "" || !dot {
		return ""
	}
	return major + "." + minor
}
