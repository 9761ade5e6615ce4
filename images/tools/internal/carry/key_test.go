package carry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestEachCopyHasAKeyOfItsOwn(t *testing.T) {
	folder := t.TempDir()
	first, err := WriteKey(filepath.Join(folder, "first"))
	second, failed := WriteKey(filepath.Join(folder, "second"))
	if err != nil || failed != nil || len(first) != 2*keySize || first == second {
		t.Errorf("%q %v, %q %v", first, err, second, failed)
	}
	if text, _ := os.ReadFile(filepath.Join(folder, "first.key")); string(text) != first {
		t.Errorf("%q", text)
	}
	if _, err := WriteKey(filepath.Join(folder, "first")); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	if key := TakeKey(); key != "" {
		t.Errorf("this program has the key %q", key)
	}
}
