// Package frame writes files into a container's log, so that kdebug can take them out again without exec.
// The form is described in docs/diagnostic-images.md, "Files".
package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
)

// chunk is how many bytes go into one line: base64 makes 7,992 characters of them, and the number before takes 7. A line
// must not be longer than 8,000, because container runtimes cut lines (CRI-O at 8 KiB).
const chunk = 5994

// maxLines is what six digits can count.
const maxLines = 999_999

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Write writes one file to the log: a begin line with its size and SHA-256, numbered lines of base64, and an end line. The
// content is packed with gzip first, if that makes it smaller. Fails for a name of another form than
// [a-z0-9][a-z0-9._-]{0,63}, for a file of more than 999,999 lines, and with the writer's error; then no end line is
// written, so that the reader knows that the file is not whole.
func Write(w io.Writer, name string, content []byte) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("not a name of a file in a log: %q", name)
	}
	encoding, packed := "base64", content
	smaller, err := pack(content)
	if err != nil {
		return err
	}
	if len(smaller) < len(content) {
		encoding, packed = "gzip+base64", smaller
	}
	lines := (len(packed) + chunk - 1) / chunk
	if lines > maxLines {
		return fmt.Errorf("%s is too large for a log: %d lines", name, lines)
	}
	// One write for many lines: a log is written line by line, and the runtime reads faster what comes at once.
	buffer := bytes.NewBuffer(make([]byte, 0, 64*1024))
	fmt.Fprintf(buffer, "-----BEGIN KDEBUG FILE name=%s bytes=%d sha256=%x encoding=%s-----\n", name, len(content), sha256.Sum256(content), encoding)
	for number := 1; number <= lines; number++ {
		part := packed[(number-1)*chunk : min(number*chunk, len(packed))]
		fmt.Fprintf(buffer, "%06d ", number)
		buffer.Write(base64.StdEncoding.AppendEncode(buffer.AvailableBuffer(), part))
		buffer.WriteByte('\n')
		if buffer.Len() > 48*1024 {
			if _, err := buffer.WriteTo(w); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(buffer, "-----END KDEBUG FILE name=%s lines=%d-----\n", name, lines)
	_, err = buffer.WriteTo(w)
	return err
}

func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	if _, err := zipper.Write(content); err != nil {
		return nil, err
	}
	if err := zipper.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
