package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kdebug/tools/internal/target"
)

const someLimits = `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max open files            200                  4096                 files     
`

// makeProcess makes a process of a /proc with these open files.
func makeProcess(t *testing.T, proc string, pid int, links ...string) {
	t.Helper()
	folder := filepath.Join(proc, fmt.Sprint(pid))
	if err := os.MkdirAll(filepath.Join(folder, "fd"), 0o700); err != nil {
		t.Fatal(err)
	}
	for number, link := range links {
		if err := os.Symlink(link, filepath.Join(folder, "fd", fmt.Sprint(number))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "limits"), []byte(someLimits), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenFilesAreCountedAndTheirKindsToldApart(t *testing.T) {
	proc := t.TempDir()
	makeProcess(t, proc, 7, "socket:[12]", "socket:[13]", "pipe:[5]", "/app.log (deleted)", "/memfd:x (deleted)", "/dev/shm/x (deleted)", "/data", "/tmp/a b (deleted)")
	makeProcess(t, proc, 8, "socket:[14]")
	seen := surveyOpenFiles(target.FS(proc), []int{7, 8, 9})
	if !seen.complete || len(seen.sockets) != 3 || !seen.sockets[13] {
		t.Errorf("complete %v, sockets %v", seen.complete, seen.sockets)
	}
	if want := (holder{pid: 7, open: 8, sockets: 2, limit: 200}); seen.holders[0] != want || len(seen.holders) != 2 {
		t.Errorf("%+v", seen.holders)
	}
	if len(seen.deleted) != 2 || seen.deleted[0] != (deletedFile{filepath.Join(proc, "7/fd/3"), "/app.log"}) || seen.deleted[1].path != "/tmp/a b" {
		t.Errorf("%+v", seen.deleted)
	}
}

func TestAProcessThatDoesNotLetUsLookMakesTheSurveyIncomplete(t *testing.T) {
	proc := t.TempDir()
	makeProcess(t, proc, 7)
	// Not to be opened as a folder, as the kernel's EACCES, which root never gets.
	if err := os.Mkdir(filepath.Join(proc, "8"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fd", filepath.Join(proc, "8", "fd")); err != nil {
		t.Fatal(err)
	}
	if seen := surveyOpenFiles(target.FS(proc), []int{7, 8}); seen.complete || len(seen.holders) != 1 {
		t.Errorf("%+v", seen)
	}
}

func TestVeryManyOpenFilesAreCountedButNotRemembered(t *testing.T) {
	seen := openFiles{complete: true, sockets: map[uint64]bool{}}
	proc := t.TempDir()
	makeProcess(t, proc, 7, "socket:[1]", "socket:[2]", "socket:[3]", "socket:[4]")
	links, counted := 2, maxCounted
	one, err := seen.add(target.FS(proc), 7, &links, &counted)
	if err != nil || one.open != 4 || one.sockets != 2 || seen.complete {
		t.Errorf("%+v, complete %v, %v", one, seen.complete, err)
	}
}

func TestOfVeryManyDeletedFilesSomeAreKept(t *testing.T) {
	proc := t.TempDir()
	var links []string
	for range 100 {
		links = append(links, "/x (deleted)")
	}
	makeProcess(t, proc, 7, links...)
	if seen := surveyOpenFiles(target.FS(proc), []int{7}); len(seen.deleted) != maxDeleted {
		t.Errorf("%d deleted files", len(seen.deleted))
	}
}
