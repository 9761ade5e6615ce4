package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/rules"
)

const key = "abcdefghijklmnopqrstuvwxyz"

func TestADigestIsFourDigitsOfAHashUnderTheKey(t *testing.T) {
	// printf '%s\n%s' abcdefghijklmnopqrstuvwxyz DB=1 | sha256sum
	look := &Look{Settings: Settings{Compare: key}}
	if got := look.digestOf("DB=1"); got != "#eead" {
		t.Error(got)
	}
	other := &Look{Settings: Settings{Compare: key + "2"}}
	if look.digestOf("DB=1") == other.digestOf("DB=1") {
		t.Error("another key gives the same digest")
	}
}

func TestVariablesAreComparedByNameWithoutWhatEachPodHasOfItsOwn(t *testing.T) {
	environ := nul("PATH=/bin", "HOSTNAME=web-7", "URL=http://10.1.2.3:80/web-7/x", "B=two\nlines", "A.B-C=1", "WEB_SERVICE_HOST=10.0.0.1", "WEB_PORT=1",
		"EMPTY=", "9=x", "NOTHING", strings.Repeat("L", 81)+"=x", strings.Repeat("M", 80)+"=x")
	want := []string{"A.B-C=1", "B=two\x01lines", "EMPTY=", "HOSTNAME={pod}", strings.Repeat("M", 80) + "=x", "PATH=/bin", "URL=http://{address}:80/{pod}/x"}
	if got := comparedVariables(environ, "web-7", "10.1.2.3"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// A name of three letters stands in values by chance.
	if got := comparedVariables(nul("A=web-a"), "web", ""); got[0] != "A=web-a" {
		t.Errorf("%q", got)
	}
}

func TestThePodsAddressIsThatOfItsNameInTheHostsFile(t *testing.T) {
	hosts := "# Kubernetes-managed\n127.0.0.1\tlocalhost web-7\n10.1.2.3\tweb-7\n10.1.2.4 web-7\n"
	if got := addressIn([]byte(hosts), "web-7"); got != "10.1.2.3" {
		t.Error(got)
	}
	if got := addressIn([]byte(hosts), "web-8"); got != "" {
		t.Error(got)
	}
}

func TestProgramsAreWhatIsMappedToRunAndLibraries(t *testing.T) {
	line := func(mode, name string) string { return "7f00-7f01 " + mode + " 00000000 08:01 123 " + name + "\n" }
	maps := line("r-xp", "/bin/app") + line("r--p", "/bin/app") + line("r--p", "/lib/libc.so.6") + line("r--p", "/data.bin") + line("r-xp", "/gone (deleted)") +
		line("r-xp", "[vdso]") + "7f00-7f01 rw-p 0 0:0 0\n" + line("r-xp", "/a*") + line("r--p", "/x.so")
	programs, all := programsIn(strings.NewReader(maps))
	if want := []string{"/bin/app", "/lib/libc.so.6", "/x.so"}; !slices.Equal(programs, want) || !all {
		t.Errorf("%q, all %v", programs, all)
	}
	many := ""
	for number := range maxPrograms + 1 {
		many += line("r-xp", fmt.Sprintf("/lib/%d", number))
	}
	if programs, all := programsIn(strings.NewReader(many)); len(programs) != maxPrograms || all {
		t.Errorf("%d programs, all %v", len(programs), all)
	}
	if _, all := programsIn(strings.NewReader(many[:len(many)-len(line("r-xp", "/lib/40"))])); !all {
		t.Error("forty are not all")
	}
}

// volume makes a volume as the kubelet does.
func volume(t *testing.T, root, point string, files ...string) {
	t.Helper()
	for _, name := range files {
		name = filepath.Join(root, point, "..2026_01", name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte("x"), 0o600))
	}
	must(t, os.Symlink("..2026_01", filepath.Join(root, point, "..data")))
}

func TestConfigurationIsWhatTheKubeletMounted(t *testing.T) {
	place := rootWith(t, map[string]int{"app/one.conf": 1, "app/other": 1, "data/x": 1, "..data/root": 1})
	volume(t, place, "etc/config", "b", "a", "sub/c", ".hidden", "sub/deep/d")
	volume(t, place, "run/secrets/kubernetes.io/serviceaccount", "token")
	must(t, syscall.Mkfifo(filepath.Join(place, "etc/config/..2026_01/pipe"), 0o600))
	must(t, os.Symlink("/etc/passwd", filepath.Join(place, "etc/config/..2026_01/out")))
	mounts := readMounts(strings.NewReader(`1 1 0:1 / / rw - overlay o rw
2 1 8:1 /pods/1/volumes/kubernetes.io~configmap/c /etc/config ro - ext4 /dev/sda rw
3 1 8:1 /pods/1/volume-subpaths/c/app/0 /app/one.conf ro - ext4 /dev/sda rw
4 1 8:1 /pods/1/etc-hosts /app/other rw - ext4 /dev/sda rw
5 1 0:9 / /run/secrets/kubernetes.io/serviceaccount ro - tmpfs tmpfs rw
6 1 0:8 / /data rw - nfs4 s:/x rw
7 1 0:7 / /dev/config rw - tmpfs t rw
`))
	root, err := os.OpenRoot(place)
	must(t, err)
	defer root.Close()
	var names []string
	for _, each := range configFiles(root, mounts) {
		names = append(names, each.name)
	}
	if want := []string{"/etc/config/a", "/etc/config/b", "/etc/config/sub/c", "/app/one.conf"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

func TestAConfigurationIsToldByNameAndContent(t *testing.T) {
	place := rootWith(t, map[string]int{"large": maxConfig + 1})
	must(t, os.WriteFile(filepath.Join(place, "a"), []byte("x"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(place, "pipe"), 0o600))
	root, err := os.OpenRoot(place)
	must(t, err)
	defer root.Close()
	look := &Look{Settings: Settings{Compare: key}}
	// printf '%s\n%s\nx' abcdefghijklmnopqrstuvwxyz /etc/config/a | sha256sum
	if got, err := look.configDigest(root, configFile{"a", "/etc/config/a"}); got != "#9056" || err != nil {
		t.Error(got, err)
	}
	for _, name := range []string{"large", "pipe", "none"} {
		if got, err := look.configDigest(root, configFile{name, "/x"}); err == nil {
			t.Errorf("%s has the digest %s", name, got)
		}
	}
}

func TestWhatHangsTellsWhatItHasSoFar(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	told, whole := within(20*time.Millisecond, func(tell func(int)) {
		tell(1)
		<-hangs
	})
	if !slices.Equal(told, []int{1}) || whole {
		t.Errorf("%v, whole %v", told, whole)
	}
	if told, whole := within(time.Minute, func(tell func(int)) { tell(1); tell(2) }); !slices.Equal(told, []int{1, 2}) || !whole {
		t.Errorf("%v, whole %v", told, whole)
	}
}

func TestTheFactsOfOurselvesAreTold(t *testing.T) {
	look := lookAtOurselves(t)
	look.compare()
	groups := map[string]int{}
	for _, each := range look.facts {
		groups[each.Group]++
	}
	if groups["identity"] != 3 || groups["limit"] != len(comparedLimits) || groups["env"] == 0 || groups["command"] != 1 || groups["program"] == 0 || groups["config"] != 0 {
		t.Errorf("%v", groups)
	}
	quiet := lookAtOurselves(t)
	quiet.Settings.Compare, quiet.facts = "", nil
	if quiet.compare(); len(quiet.facts) > 0 {
		t.Errorf("without a key: %v", quiet.facts)
	}
}

func TestWhereAVolumeIsSilentNoFileIsAskedForAFact(t *testing.T) {
	look := lookAtOurselves(t)
	look.silent = func() []string { return []string{"/dead"} }
	look.open.deleted = []deletedFile{{link: "/nonexistent", path: "/dead/x"}}
	look.compare()
	for _, each := range look.facts {
		if each.Group == "program" || each.Group == "config" {
			t.Errorf("%+v", each)
		}
	}
	if !slices.Equal(look.cuts, []string{"program", "config"}) {
		t.Errorf("cut %q", look.cuts)
	}
	if got := deletedFiles(look, rules.NewPart("io")); got != "; 1 deleted but open file of a size that was not asked for" {
		t.Error(got)
	}
}
