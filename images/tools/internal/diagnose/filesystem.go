package diagnose

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// filesystemSection looks at the target's files: temporary folders, core files, mounts, the age of its token.
type filesystemSection struct {
	mounts []mount
	// seen gets what was found, as far as the file systems answer.
	seen chan found
}

const (
	shownMounts = 16
	// lookTime is for the whole section: the file systems may take long to answer before it.
	lookTime = countTime + time.Second
)

// found is what was seen of the files.
type found struct {
	// held are the temporary folders with their bytes; counted is whether all of their files were.
	held    []heldBy
	counted bool
	cores   cores
	// token is when the service account token was last renewed; zero where there is none.
	token time.Time
	// open are folders that everybody may write to.
	open []string
}

type heldBy struct {
	folder string
	bytes  int64
}

func (s *filesystemSection) begin(look *Look) {
	if !look.Target.Readable || !look.Target.Contained() {
		return
	}
	root, cwd := look.Target.Root(), look.Target.FS().Path(look.Target.PID, "cwd")
	s.mounts = look.mounts()
	s.seen = make(chan found, 1)
	// What hangs in the kernel is left behind.
	go func() {
		if len(look.silent()) == 0 {
			s.seen <- lookAtFiles(root, cwd)
		}
	}()
}

func lookAtFiles(root, cwd string) found {
	seen := found{cores: findCores(root, cwd), open: openToAll(root, cwd), token: renewed(root)}
	counter := newUsage()
	for _, folder := range []string{"/tmp", "/var/tmp", "/var/log", "/dev/shm"} {
		if bytes, is := counter.of(root, folder); is {
			seen.held = append(seen.held, heldBy{folder, bytes})
		}
	}
	seen.counted = counter.whole
	return seen
}

func (s *filesystemSection) end(look *Look) *rules.Part {
	part := rules.NewPart("filesystem")
	switch {
	case !look.Target.Readable:
		return look.blind(part, "the target's files are not readable")
	case s.seen == nil:
		return part.Skip("not a container of its own: its files and mounts are those of the machine, and were not looked at")
	}
	if silent := look.silent(); len(silent) > 0 {
		return part.Blind("not looked at, since "+strings.Join(silent, " ")+" does not answer", "an answer of a volume")
	}
	select {
	case seen := <-s.seen:
		tellMounts(part, s.mounts)
		seen.tell(part, time.Now())
		return part
	case <-time.After(lookTime):
		return part.Blind("the target's files were not listed in time", "an answer of a volume")
	}
}

func tellMounts(part *rules.Part, mounts []mount) {
	shown, root := 0, "writable"
	for _, each := range mounts {
		if each.point == "/" {
			root = "writable"
			if each.readOnly() {
				root = "read-only"
			}
		}
		if each.isMachine() {
			continue
		}
		if shown++; shown <= shownMounts {
			part.Say("mount %s %s %s", each.point, each.kind, each.options)
		}
	}
	part.Section.Text = fmt.Sprintf("%s, the root is %s", report.Counted(len(mounts), "mount"), root)
}

// tell adds to the text what was found.
func (f found) tell(part *rules.Part, now time.Time) {
	f.tellHeld(part)
	if len(f.cores.found) > 0 {
		f.cores.tell(part)
	}
	if !f.token.IsZero() {
		age := max(0, now.Sub(f.token))
		part.Section.Text += fmt.Sprintf("; the token was renewed %s ago", lengthOf(age))
		hours := int(age.Hours())
		part.Find("token_old", float64(hours), "the service account token was last renewed %d hours ago", hours)
	}
	for _, folder := range f.open {
		part.Say("%s is writable for everybody", folder)
	}
}

func (f found) tellHeld(part *rules.Part) {
	all := int64(0)
	var holding []string
	for _, each := range f.held {
		size := each.bytes / mib
		part.Say("%s holds %d MiB", each.folder, size)
		if all += size; size > 0 {
			holding = append(holding, fmt.Sprintf("%s %d MiB", each.folder, size))
		}
	}
	least := ""
	if !f.counted {
		part.Section.Text += "; too many files to count all of them"
		least = "at least "
	}
	part.Section.Text += fmt.Sprintf("; %s%d MiB temporary files and logs", least, all)
	part.Find("temporary_files", float64(all), "temporary files and logs hold %s%d MiB: %s", least, all, strings.Join(holding, " "))
}

// renewed: the kubelet puts a new folder in place when it renews the token.
func renewed(root string) time.Time {
	for _, folder := range []string{"/run", "/var/run"} {
		opened, err := openFolder(root, folder+"/secrets/kubernetes.io/serviceaccount")
		if err != nil {
			continue
		}
		data, err := statIn(opened, "..data")
		opened.Close()
		if err == nil && data.Mode&unix.S_IFMT == unix.S_IFLNK {
			return time.Unix(data.Mtim.Unix())
		}
	}
	return time.Time{}
}

// openToAll are folders that everybody may write to and remove from.
func openToAll(root, cwd string) []string {
	var open []string
	add := func(name string, mode os.FileMode) {
		if mode.IsDir() && mode&0o002 != 0 && mode&os.ModeSticky == 0 && !slices.Contains(open, name) {
			open = append(open, name)
		}
	}
	for _, name := range []string{"/", "/etc", "/usr", "/bin", "/usr/bin", "/opt", "/app", "/tmp"} {
		if folder, err := openFolder(root, name); err == nil {
			if about, err := folder.Stat(); err == nil {
				add(name, about.Mode())
			}
			folder.Close()
		}
	}
	if about, err := os.Stat(cwd + "/."); err == nil {
		if name, err := os.Readlink(cwd); err == nil {
			add(name, about.Mode())
		}
	}
	return open
}
