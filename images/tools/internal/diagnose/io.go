package diagnose

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

const shownDisks = 12

// ioSection looks at disks: pressure, file systems, and files that are deleted but open.
type ioSection struct {
	systems []mount
	// answers waits for them.
	answers func() volumes
}

func (s *ioSection) begin(look *Look) {
	if look.Target.Readable && look.Target.Contained() {
		s.systems = fileSystems(look.mounts())
	}
	s.answers = askVolumes(look.Target.Root(), s.systems)
	look.silent = func() []string { return s.answers().silent }
}

func (s *ioSection) end(look *Look) *rules.Part {
	part := rules.NewPart("io")
	if !look.Target.Readable {
		return look.blind(part, "the target's files are not readable")
	}
	text, contained := "not a container of its own: its disks are those of the machine, and were not looked at", look.Target.Contained()
	if contained {
		text = s.fileSystems(look, part)
	}
	text += deletedFiles(look, part)
	if _, full := cgroup.Pressure(look.cgroup.CPU, "io.pressure"); look.cgroup.Version > 0 && full.Known {
		part.Find("io_pressure", float64(full.Value), "all processes waited for a disk %d%% of the last 10 seconds", full.Value)
		text += fmt.Sprintf("; pressure %d%%", full.Value)
	}
	part.Section.Text = text
	if !contained && len(part.Findings) == 0 {
		return part.Skip(text)
	}
	return part
}

func (s *ioSection) fileSystems(look *Look, part *rules.Part) string {
	for _, each := range s.systems {
		if each.madeReadOnly() {
			part.Find("disk_read_only", 1, "%s was made read-only by the kernel", each.point)
		}
	}
	answers := s.answers()
	disks := together(answers.disks)
	fullest, where := int64(0), "/"
	for index, each := range disks {
		part.Find("disk_inodes", float64(each.inodes()), "%s has used %d%% of its inodes", each.path, each.inodes())
		part.Find("disk_full", float64(each.space()), "%s is %d%% full", each.path, each.space())
		if index < shownDisks {
			part.Say("%s: %d%% of the space, %d%% of the inodes", each.path, each.space(), each.inodes())
		}
		if each.space() > fullest {
			fullest, where = each.space(), each.path
		}
	}
	text := fmt.Sprintf("%s, the fullest is %s with %d%%", report.Counted(len(disks), "file system"), where, fullest)
	for _, path := range answers.silent {
		part.Find("disk_silent", 1, "%s does not answer", path)
		text += fmt.Sprintf("; no answer from %s within 2 s", path)
	}
	look.amount("share", fullest, "fullest disk")
	return text
}

// deletedFiles is the space that deleted but open files hold; each counts once, however many have it open.
func deletedFiles(look *Look, part *rules.Part) string {
	if len(look.open.deleted) == 0 {
		return ""
	}
	// Whoever asks for a file of a dead volume waits in the kernel, and keeps this program from ending.
	if len(look.silent()) > 0 {
		return "; " + report.Counted(len(look.open.deleted), "deleted but open file") + " of a size that was not asked for"
	}
	found := make(chan space, 1)
	links := slices.Clone(look.open.deleted)
	go func() { found <- spaceOf(links) }()
	select {
	case held := <-found:
		most := ""
		if held.largest != "" {
			most = ", the largest was " + held.largest
		}
		part.Find("deleted_open", float64(held.bytes/mib), "deleted files that are still open hold %d MiB%s", held.bytes/mib, most)
		return fmt.Sprintf("; %s with %d MiB", report.Counted(held.files, "deleted but open file"), held.bytes/mib)
	case <-time.After(answerWait):
		return "; the size of deleted but open files was not told within 2 s"
	}
}

// space is what deleted files hold together.
type space struct {
	files   int
	bytes   int64
	largest string
}

func spaceOf(links []deletedFile) space {
	type node struct{ device, inode uint64 }
	var all space
	seen, most := map[node]bool{}, int64(-1)
	for _, each := range links {
		info, err := os.Stat(each.link)
		if err != nil {
			continue
		}
		stat := info.Sys().(*syscall.Stat_t)
		if key := (node{uint64(stat.Dev), stat.Ino}); !seen[key] {
			seen[key] = true
			all.files++
			all.bytes += stat.Blocks * 512
			if stat.Blocks > most {
				most, all.largest = stat.Blocks, strings.TrimSpace(each.path)
			}
		}
	}
	return all
}
