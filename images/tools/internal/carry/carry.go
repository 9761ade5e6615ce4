// Package carry copies our own program to where another container finds it.
package carry

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mode: everybody may read and start it, nobody may change it.
const mode = 0o555

// Copy copies this program to a path where nothing is, not even a link: to whatever user it belongs, everybody may start it then. The copy is on its
// volume when this returns without an error; after one there is nothing.
func Copy(path string) error { return copyOf("/proc/self/exe", path) }

func copyOf(from, path string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|unix.O_NOFOLLOW, 0o500)
	if err != nil {
		return err
	}
	err = fill(file, source)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

func fill(file *os.File, source io.Reader) error {
	if _, err := io.Copy(file, source); err != nil {
		return err
	}
	// By the open file: the mode at its creation is under the umask.
	if err := file.Chmod(mode); err != nil {
		return err
	}
	return file.Sync()
}
