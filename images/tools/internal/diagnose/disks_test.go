package diagnose

import (
	"slices"
	"testing"
)

func TestADiskThatIsMountedSeveralTimesIsOne(t *testing.T) {
	disks := together([]disk{{"/", 10, 5, 1, 1, false}, {"/a", 10, 5, 1, 1, false}, {"/empty", 9, 9, 1, 1, false}, {"/b", 10, 5, 1, 1, false}, {"/empty2", 9, 9, 1, 1, false}, {"/c", 10, 5, 1, 1, false}, {"/d", 10, 5, 1, 1, false}})
	var paths []string
	for _, each := range disks {
		paths = append(paths, each.path)
	}
	if want := []string{"/ (also /a, /b, /c and 1 more)", "/empty", "/empty2"}; !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}
}

func TestADiskThatOthersWriteToBetweenTwoAnswersIsOneAndATmpfsIsItsOwn(t *testing.T) {
	if disks := together([]disk{{"/", 1000, 505, 90, 9, false}, {"/a", 1000, 504, 90, 9, false}, {"/other", 1000, 400, 90, 9, false}, {"/memory", 1000, 504, 90, 9, true}}); len(disks) != 3 || disks[0].path != "/ (also /a)" {
		t.Errorf("%+v", disks)
	}
}

func TestADiskIsFullByWhatOthersThanRootMayUse(t *testing.T) {
	if full := (disk{blocks: 100, available: 7, nodes: 20, spare: 1}); full.space() != 93 || full.inodes() != 95 {
		t.Errorf("%d%% of the space, %d%% of the inodes", full.space(), full.inodes())
	}
	// What a file system does not count is not full.
	if (disk{}).space() != 0 || (disk{}).inodes() != 0 {
		t.Error("nothing of nothing is full")
	}
}
