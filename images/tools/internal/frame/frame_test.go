package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// read takes a file out of a log as kdebug does, strictly.
func read(t *testing.T, log string) (string, []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	var name, sum, encoding string
	var size, count int
	if _, err := fmt.Sscanf(strings.TrimSuffix(lines[0], "-----"), "-----BEGIN KDEBUG FILE name=%s bytes=%d sha256=%s encoding=%s", &name, &size, &sum, &encoding); err != nil {
		t.Fatalf("%q: %v", lines[0], err)
	}
	last := lines[len(lines)-1]
	if _, err := fmt.Sscanf(strings.TrimSuffix(last, "-----"), "-----END KDEBUG FILE name="+name+" lines=%d", &count); err != nil {
		t.Fatalf("%q: %v", last, err)
	}
	if count != len(lines)-2 {
		t.Fatalf("%d lines of %d", len(lines)-2, count)
	}
	var packed []byte
	for index, line := range lines[1 : len(lines)-1] {
		if len(line) > 8000 {
			t.Fatalf("line %d has %d characters", index+1, len(line))
		}
		number, text, _ := strings.Cut(line, " ")
		if number != fmt.Sprintf("%06d", index+1) {
			t.Fatalf("line %d is numbered %s", index+1, number)
		}
		part, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, part...)
	}
	content := packed
	if encoding == "gzip+base64" {
		unzipper, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if content, err = io.ReadAll(unzipper); err != nil {
			t.Fatal(err)
		}
	}
	if len(content) != size || fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
		t.Fatalf("%d bytes of %d, or another hash", len(content), size)
	}
	return name, content
}

func TestFilesComeBackEqual(t *testing.T) {
	source := rand.NewChaCha8([32]byte{1})
	for _, size := range []int{0, 1, 2, 3, chunk - 1, chunk, chunk + 1, 2 * chunk, 100_000, 1 << 20} {
		for _, kind := range []string{"random", "zeros"} {
			content := make([]byte, size)
			if kind == "random" {
				_, _ = source.Read(content)
			}
			var log strings.Builder
			if err := Write(&log, "cpu.pb.gz", content); err != nil {
				t.Fatal(err)
			}
			name, back := read(t, log.String())
			if name != "cpu.pb.gz" || !bytes.Equal(back, content) {
				t.Errorf("%d bytes of %s came back as %d bytes of %s", size, kind, len(back), name)
			}
		}
	}
}

func TestTextIsPacked(t *testing.T) {
	var log strings.Builder
	if err := Write(&log, "threads.txt", []byte(strings.Repeat("at java.lang.Thread.run\n", 10_000))); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "encoding=gzip+base64") || log.Len() > 10_000 {
		t.Errorf("%d characters", log.Len())
	}
}

func TestNamesAreHeldToTheirForm(t *testing.T) {
	for _, name := range []string{"", ".hidden", "../passwd", "A.txt", "a b", "a\n", strings.Repeat("a", 65)} {
		if err := Write(io.Discard, name, nil); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	f.left -= len(p)
	if f.left < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestTheWritersErrorIsTold(t *testing.T) {
	content := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(content)
	for _, room := range []int{0, 60_000, 600_000} {
		if err := Write(&full{room}, "a.txt", content); err == nil {
			t.Errorf("no error with room for %d", room)
		}
	}
}
