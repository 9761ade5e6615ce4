package diagnose

import (
	"strings"
	"testing"
)

const someMounts = `22 1 0:21 / / rw,relatime - overlay overlay rw,lowerdir=/a
23 22 0:5 / /proc rw,nosuid - proc proc rw
24 22 0:6 / /dev rw,nosuid - tmpfs tmpfs rw,size=64k
25 22 8:1 /var/lib/pods/x/etc-hosts /etc/hosts rw,relatime shared:3 master:1 - ext4 /dev/sda1 rw
26 22 8:1 /data /data ro,relatime - ext4 /dev/sda1 rw
27 22 8:2 / /broken rw,relatime - xfs /dev/sdb1 ro,errors=remount-ro
28 22 0:40 / /with\040space rw - nfs4 server:/x rw
29 22 0:41 / /nfs rw - nfs4 server:/x rw
30 22 0:42 / /cgroup rw - cgroup2 cgroup2 rw
31 22
`

func TestMountsAreRead(t *testing.T) {
	mounts := readMounts(strings.NewReader(someMounts))
	if len(mounts) != 9 {
		t.Fatalf("%d mounts: %v", len(mounts), mounts)
	}
	want := mount{device: "8:1", root: "/var/lib/pods/x/etc-hosts", point: "/etc/hosts", kind: "ext4", options: "rw,relatime", super: "rw"}
	if mounts[3] != want {
		t.Errorf("%+v", mounts[3])
	}
	if mounts[3].readOnly() || !mounts[4].readOnly() {
		t.Error("ro is not told from rw")
	}
}

func TestOnlyOneMountOfEachFileSystemThatHoldsFilesIsAsked(t *testing.T) {
	var points []string
	for _, each := range fileSystems(readMounts(strings.NewReader(someMounts))) {
		points = append(points, each.point)
		if each.madeReadOnly() != (each.point == "/broken") {
			t.Errorf("%s made read-only: %v", each.point, each.madeReadOnly())
		}
	}
	if got := strings.Join(points, " "); got != "/ /dev /etc/hosts /broken /nfs" {
		t.Error(got)
	}
}

func TestATargetWithVeryManyMountsCostsLittle(t *testing.T) {
	if count := len(readMounts(strings.NewReader(strings.Repeat("22 1 0:21 / /a rw - tmpfs t rw\n", 60_000)))); count != maxMounts {
		t.Errorf("%d mounts", count)
	}
	line := "22 1 0:21 / /" + strings.Repeat("a", 2*maxMountinfo)
	if count := len(readMounts(strings.NewReader(line))); count != 0 {
		t.Errorf("a line without an end gives %d mounts", count)
	}
}
