// Package carry copies our own program to where another container finds it.
package carry

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// mode: everybody may read and start it, nobody may change it. What may not be read may not be traced when it starts itself as a child.
const mode = 0o555

// Copy copies this program, with a new key in it, to a path where nothing is, not even a link: to whatever user it belongs, everybody may start it then. The
// copy is on its volume when this returns without an error; after one there is nothing.
func Copy(path string) (key string, err error) {
	source, err := ourProgram()
	if err != nil {
		return "", err
	}
	defer source.Close()
	program, err := io.ReadAll(source)
	if err != nil {
		return "", err
	}
	if program, key, err = withKey(program); err != nil {
		return "", err
	}
	return key, write(path, bytes.NewReader(program))
}

// packed is beside a program that may be run but not read, with the same inside.
const packed = ".gz"

// ourProgram opens the program that this process runs.
func ourProgram() (io.ReadCloser, error) {
	const running = "/proc/self/exe"
	file, err := os.Open(running)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return file, err
	}
	name, err := os.Readlink(running)
	if err != nil {
		return nil, err
	}
	//nolint:gosec // It lies beside our own program.
	if file, err = os.Open(name + packed); err != nil {
		return nil, err
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return both{unpacked, file}, nil
}

// both is what a packed file holds; Close closes the file.
type both struct {
	io.Reader
	io.Closer
}

func write(path string, source io.Reader) error {
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
