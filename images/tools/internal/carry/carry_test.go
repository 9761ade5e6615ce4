package carry

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheCopyIsOursAndCanBeStartedByAll(t *testing.T) {
	defer unix.Umask(unix.Umask(0o777))
	path := filepath.Join(t.TempDir(), "copy")
	key, err := Copy(path)
	if err != nil {
		t.Fatal(err)
	}
	ours, _ := os.ReadFile("/proc/self/exe")
	copied, err := os.ReadFile(path)
	if err != nil || len(key) != 2*keySize || !bytes.Equal(ours, bytes.ReplaceAll(copied, []byte(key), []byte(slot[len(slot)-2*keySize:]))) {
		t.Errorf("%d of %d bytes, key %q, %v", len(copied), len(ours), key, err)
	}
	if other, err := Copy(path + "2"); err != nil || other == key {
		t.Errorf("the second copy has the key %q, %v", other, err)
	}
	if Key() != "" {
		t.Error("what is no copy has a key")
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o555 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	folder := t.TempDir()
	file, link, away := filepath.Join(folder, "file"), filepath.Join(folder, "link"), filepath.Join(folder, "away")
	if os.WriteFile(file, []byte("kept"), 0o600) != nil || os.Symlink(away, link) != nil {
		t.Fatal("no files")
	}
	for _, path := range []string{file, link} {
		if _, err := Copy(path); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, _ := os.ReadFile(file); string(text) != "kept" {
		t.Errorf("%q", text)
	}
	if _, err := os.Lstat(away); err == nil {
		t.Error("it followed a link")
	}
	if _, err := Copy(filepath.Join(folder, "none", "copy")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestAPartOfACopyIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy")
	if err := write(path, io.MultiReader(strings.NewReader("part"), failing{})); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("a part is left")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, syscall.EIO }

// volume is a small file system; a test that may not mount one is skipped.
func volume(t *testing.T, options string) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("no volume: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", folder).Run() })
	return folder
}

func TestAVolumeThatIsFullOrReadOnlySaysSo(t *testing.T) {
	full := volume(t, "size=64k")
	if _, err := Copy(filepath.Join(full, "copy")); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(full); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := Copy(filepath.Join(volume(t, "ro"), "copy")); !errors.Is(err, syscall.EROFS) {
		t.Error(err)
	}
}
