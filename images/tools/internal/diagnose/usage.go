package diagnose

import (
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// usage counts the disk space of folders, as du -x does: on one file system each, a file with several names once, links not followed.
type usage struct {
	// until is when it stops, and left how many files it may still count: who is asked shares the target's CPU.
	until time.Time
	left  int
	// whole is false once something was left out.
	whole bool
	names map[uint64]bool
}

const (
	countTime = 2 * time.Second
	maxFiles  = 50_000
	maxDepths = 64
	// maxNamesakes bounds the files with several names that are remembered.
	maxNamesakes = 4096
)

func newUsage() *usage {
	return &usage{until: time.Now().Add(countTime), left: maxFiles, whole: true, names: map[uint64]bool{}}
}

// of is how many bytes a folder below root holds; false if it is none.
func (u *usage) of(root, name string) (int64, bool) {
	folder, err := openFolder(root, name)
	if err != nil {
		return 0, false
	}
	defer folder.Close()
	var about unix.Stat_t
	if unix.Fstat(int(folder.Fd()), &about) != nil {
		return 0, false
	}
	return (u.below(folder, about.Dev, 0) + about.Blocks) * 512, true
}

// openFolder opens a folder of the target by its path below root, of which no part is a link: a link may lead out of the root.
func openFolder(root, name string) (*os.File, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	folder, err := unix.Open(root+"/", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" {
			continue
		}
		next, err := unix.Openat(folder, part, flags, 0)
		unix.Close(folder)
		if err != nil {
			return nil, err
		}
		folder = next
	}
	return os.NewFile(uintptr(folder), name), nil
}

// statIn tells of a file in an open folder, without following or opening it.
func statIn(folder *os.File, name string) (unix.Stat_t, error) {
	var about unix.Stat_t
	err := unix.Fstatat(int(folder.Fd()), name, &about, unix.AT_SYMLINK_NOFOLLOW)
	return about, err
}

// below counts the blocks of what a folder holds.
func (u *usage) below(folder *os.File, device uint64, depth int) int64 {
	blocks := int64(0)
	for {
		names, err := folder.Readdirnames(256)
		for _, name := range names {
			if u.left--; u.left < 0 || time.Now().After(u.until) {
				u.whole = false
				return blocks
			}
			blocks += u.file(folder, name, device, depth)
		}
		if err != nil {
			u.whole = u.whole && err == io.EOF
			return blocks
		}
	}
}

func (u *usage) file(folder *os.File, name string, device uint64, depth int) int64 {
	about, err := statIn(folder, name)
	if err != nil || about.Dev != device {
		return 0
	}
	if about.Mode&unix.S_IFMT == unix.S_IFDIR {
		return about.Blocks + u.folder(folder, name, device, depth+1)
	}
	if about.Nlink > 1 {
		if u.names[about.Ino] || len(u.names) == maxNamesakes {
			return 0
		}
		u.names[about.Ino] = true
	}
	return about.Blocks
}

func (u *usage) folder(above *os.File, name string, device uint64, depth int) int64 {
	if depth > maxDepths {
		u.whole = false
		return 0
	}
	opened, err := unix.Openat(int(above.Fd()), name, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		// One that has gone meanwhile holds nothing; one that does not let us look may hold anything.
		u.whole = u.whole && err == syscall.ENOENT
		return 0
	}
	folder := os.NewFile(uintptr(opened), name)
	defer folder.Close()
	return u.below(folder, device, depth)
}
