package diagnose

import (
	"slices"
	"testing"
)

func TestADiskThatIsMountedSeveralTimesIsOne(t *testing.T) {
	disks := together([]disk{{"/", 10, 5, 1, 1}, {"/a", 10, 5, 1, 1}, {"/empty", 9, 9, 1, 1}, {"/b", 10, 5, 1, 1}, {"/empty2", 9, 9, 1, 1}, {"/c", 10, 5, 1, 1}, {"/d", 10, 5, 1, 1}})
	var paths []string
	for _, each := range disks {
		paths = append(paths, each.path)
	}
	if want := []string{"/ (also /a, /b, /c and 1 more)", "/empty", "/empty2"}; !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}
}

func TestWhatAFileSystemDoesNotCountIsNotFull(t *testing.T) {
	if (disk{}).space() != 0 || (disk{blocks: 9}).inodes() != 0 {
		t.Error("nothing of nothing is full")
	}
}
