package target

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheWordsOfAProgramAreFoundAcrossPieces(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "7"), 0o700); err != nil {
		t.Fatal(err)
	}
	always := func() bool { return true }
	for _, before := range []int{0, piece - 3, piece, 2*piece - 5} {
		data := append(bytes.Repeat([]byte{'x'}, before), "RUST_BACKTRACE and more"...)
		if err := os.WriteFile(filepath.Join(folder, "7", "exe"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		fs := FS(folder)
		if !fs.HoldsText(7, "RUST_BACKTRACE", always) || fs.HoldsText(7, "RUST_FORETRACE", always) {
			t.Errorf("behind %d bytes it is not told", before)
		}
		if fs.HoldsText(7, "RUST_BACKTRACE", func() bool { return false }) || fs.HoldsText(8, "RUST_BACKTRACE", always) {
			t.Error("found without time, or without a program")
		}
	}
}
