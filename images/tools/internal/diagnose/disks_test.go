package diagnose

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestTheRealFileSystemsAreFoundOnceADevice(t *testing.T) {
	found := fileSystems(`30 1 0:30 / / rw,relatime - overlay overlay rw,lowerdir=/a
31 30 0:31 / /proc rw - proc proc rw
32 30 8:1 /x /data rw shared:1 master:2 - ext4 /dev/sda1 ro,errors=remount-ro
33 30 8:1 /y /etc/hosts rw - ext4 /dev/sda1 ro
34 30 8:2 / /ro ro - xfs /dev/sdb ro
35 30 0:40 / /proc/acpi ro - tmpfs tmpfs ro
36 30 0:41 / /odd\040name rw - tmpfs tmpfs rw
37 30 0:42 / /short rw
`)
	if want := []mount{{"/", false}, {"/data", true}, {"/ro", false}}; !slices.Equal(found, want) {
		t.Errorf("%v", found)
	}
}

func TestAVolumeThatNeverAnswersHoldsUpNoOther(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	statfs := func(path string) (syscall.Statfs_t, error) {
		switch path {
		case "/dead", "/dead2", "/dead3":
			<-never
		case "/gone":
			return syscall.Statfs_t{}, errors.New("not there")
		}
		return syscall.Statfs_t{Blocks: 100, Bavail: 7, Files: 20, Ffree: 1}, nil
	}
	answers, silent := ask([]mount{{"/dead", false}, {"/gone", false}, {"/well", false}, {"/dead2", false}, {"/dead3", false}, {"/late", false}}, statfs, 20*time.Millisecond)
	if len(answers) != 1 || answers[0].path != "/well" || answers[0].space() != 93 || answers[0].inodes() != 95 {
		t.Errorf("answers %+v", answers)
	}
	// The third is not asked: each takes its time.
	if !slices.Equal(silent, []string{"/dead", "/dead2"}) {
		t.Errorf("silent %v", silent)
	}
}

func TestAFileSystemThatOnlyLacksACPUIsNotSilent(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	_, silent := ask([]mount{{"/slow", false}}, func(string) (syscall.Statfs_t, error) {
		for {
			select {
			case <-stop:
				return syscall.Statfs_t{}, nil
			default:
			}
		}
	}, 20*time.Millisecond)
	if len(silent) != 0 {
		t.Errorf("silent %v", silent)
	}
}

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
	if (disk{}).space() != 0 || (disk{files: 0, freeNode: 0}).inodes() != 0 {
		t.Error("nothing of nothing is full")
	}
}
