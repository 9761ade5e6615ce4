package diagnose

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// cores are the memory images of crashed processes.
type cores struct {
	// found are their paths as the target sees them, at most maxCores; more is whether there are others.
	found []string
	more  bool
}

const (
	maxCores = 64
	// maxFolder bounds the names of a folder that are read.
	maxFolder = 100_000
)

func isCore(name string) bool {
	rest, is := strings.CutPrefix(name, "core.")
	return name == "core" || (is && rest != "" && strings.Contains(digits, rest[len(rest)-1:]))
}

// findCores looks where the kernel writes them by default, a file with two paths once.
func findCores(root, cwd string) cores {
	var all cores
	seen := map[[2]uint64]bool{}
	for _, name := range []string{"/", "/tmp", "/var/tmp"} {
		if folder, err := openFolder(root, name); err == nil {
			all.in(folder, name, seen)
			folder.Close()
		}
	}
	if folder, err := openFolder(cwd, ""); err == nil {
		name, _ := os.Readlink(cwd)
		all.in(folder, name, seen)
		folder.Close()
	}
	return all
}

func (c *cores) in(folder *os.File, path string, seen map[[2]uint64]bool) {
	if path != "/" {
		path += "/"
	}
	for read := 0; read < maxFolder; {
		names, err := folder.Readdirnames(512)
		for _, name := range names {
			if !isCore(name) {
				continue
			}
			about, err := statIn(folder, name)
			if err != nil || about.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if key := [2]uint64{about.Dev, about.Ino}; !seen[key] {
				if len(c.found) == maxCores {
					c.more = true
					return
				}
				seen[key] = true
				c.found = append(c.found, path+name)
			}
		}
		if read += len(names); err != nil {
			c.more = c.more || err != io.EOF
			return
		}
	}
}

func (c cores) tell(part *rules.Part) {
	files := report.Counted(len(c.found), "core file")
	if c.more {
		files = fmt.Sprintf("%d or more core files", len(c.found))
	}
	part.Find("core_dump", float64(len(c.found)), "%s of a crashed process, one is %s", files, c.found[0])
}
