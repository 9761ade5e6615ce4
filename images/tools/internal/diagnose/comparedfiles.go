package diagnose

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/target"
)

const (
	maxPrograms = 40
	maxConfigs  = 30
	// maxConfig: a config map has at most 1 MiB.
	maxConfig = 2 << 20
	// maxMaps bounds what is read of a memory map, maxNamesIn the names of a folder of configuration.
	maxMaps    = 16 << 20
	maxNamesIn = 1000

	programTime = 2 * time.Second
	configTime  = 5 * time.Second
)

// within does a work that may hang in the kernel, and gives what it told until the time was over; whole is whether it came to its end.
func within[T any](limit time.Duration, work func(tell func(T))) (told []T, whole bool) {
	items, ended, over := make(chan T), make(chan struct{}), make(chan struct{})
	defer close(over)
	go func() {
		defer close(ended)
		work(func(item T) {
			select {
			case items <- item:
			case <-over:
			}
		})
	}()
	late := time.After(limit)
	for {
		select {
		case item := <-items:
			told = append(told, item)
		case <-ended:
			return told, true
		case <-late:
			return told, false
		}
	}
}

// namedFact is a fact of one group.
type namedFact struct{ value, name string }

// comparePrograms tells the program and its libraries by name and size; the size tells versions apart without reading them.
func (l *Look) comparePrograms() {
	programs, all := l.mapped()
	if !all {
		l.cut("program")
	}
	place := l.Target.Root()
	told, whole := within(programTime, func(tell func(namedFact)) {
		root, err := os.OpenRoot(place)
		if err != nil {
			return
		}
		defer root.Close()
		for _, each := range programs {
			if about, err := root.Stat(each[1:]); err == nil {
				tell(namedFact{fmt.Sprintf("%d bytes", about.Size()), path.Base(each)})
			}
		}
	})
	l.tellAll("program", told, whole)
}

func (l *Look) tellAll(group string, told []namedFact, whole bool) {
	for _, each := range told {
		l.fact(group, each.value, each.name)
	}
	if !whole {
		l.cut(group)
	}
}

// mapped are the files that the target has mapped to run them, at most 40; false if there are more.
func (l *Look) mapped() ([]string, bool) {
	file, err := os.Open(l.Target.FS().Path(l.Target.PID, "maps"))
	if err != nil {
		return nil, true
	}
	defer file.Close()
	return programsIn(file)
}

func isLibrary(name string) bool {
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}

func programsIn(maps io.Reader) ([]string, bool) {
	var programs []string
	lines := bufio.NewScanner(io.LimitReader(maps, maxMaps))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 6 || words[5][0] != '/' || strings.ContainsAny(words[5], `\*?[`) || slices.Contains(programs, words[5]) {
			continue
		}
		if strings.Contains(words[1], "x") || isLibrary(words[5]) {
			if len(programs) == maxPrograms {
				return programs, false
			}
			programs = append(programs, words[5])
		}
	}
	return programs, true
}

// compareConfig tells the digests of the files of config maps, secrets and projected volumes.
func (l *Look) compareConfig() {
	place, mounts := l.Target.Root(), l.mounts()
	told, whole := within(configTime, func(tell func(namedFact)) {
		root, err := os.OpenRoot(place)
		if err != nil {
			return
		}
		defer root.Close()
		for index, each := range configFiles(root, mounts) {
			if index == maxConfigs {
				l.cut("config")
				return
			}
			if digest, err := l.configDigest(root, each); err == nil {
				tell(namedFact{digest, each.name})
			}
		}
	})
	l.tellAll("config", told, whole)
}

// configFile is a file by its path in the root and the name that the target has for it.
type configFile struct{ path, name string }

func (l *Look) configDigest(root *os.Root, of configFile) (string, error) {
	file, err := target.OpenRegular(root, of.path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil || about.Size() > maxConfig {
		return "", fs.ErrInvalid
	}
	return l.digest(io.MultiReader(strings.NewReader(of.name+"\n"), io.LimitReader(file, maxConfig)))
}

// ofConfig are the kinds of file systems in which a node keeps what the API gives to a pod.
var ofConfig = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "overlay", "tmpfs"}

// isFromAPI is whether what is mounted comes from a config map, a secret or the like: the folder of its volume says so, or that of one version of it.
func isFromAPI(root string) bool {
	for _, kind := range []string{"kubernetes.io~configmap", "kubernetes.io~secret", "kubernetes.io~projected", "kubernetes.io~downward-api", "volume-subpaths"} {
		if strings.Contains(root, kind) {
			return true
		}
	}
	// As "/..2026_11_25_01_02_03.123".
	_, version, _ := strings.Cut(root, "/..")
	return len(version) > 4 && version[4] == '_' && consistsOf(version[:4], digits)
}

func isOfAccount(point string) bool {
	return strings.HasPrefix(strings.TrimPrefix(point, "/var"), "/run/secrets/kubernetes.io/serviceaccount")
}

// configFiles are the files of config maps, secrets and projected volumes: a volume of these has the link "..data", and a file mounted alone comes
// from such a place. Not the token of the service account, which each pod has of its own.
func configFiles(root *os.Root, mounts []mount) []configFile {
	var files []configFile
	for _, each := range mounts {
		if !slices.Contains(ofConfig, each.kind) || !each.isPlain() || each.isMachine() || each.point == "/" || isOfAccount(each.point) {
			continue
		}
		inside := each.point[1:]
		data := path.Join(inside, "..data")
		if about, err := root.Lstat(data); err == nil && about.Mode().Type() == os.ModeSymlink {
			files = append(files, filesOfVolume(root, data, each.point)...)
		} else if isFromAPI(each.root) && isRegular(root, inside) {
			files = append(files, configFile{inside, each.point})
		}
		if len(files) > maxConfigs {
			break
		}
	}
	return files
}

// filesOfVolume are the files of a volume, and those of its folders.
func filesOfVolume(root *os.Root, data, point string) []configFile {
	var files []configFile
	var folders []string
	for _, name := range namesIn(root, data) {
		if isRegular(root, path.Join(data, name)) {
			files = append(files, configFile{path.Join(data, name), path.Join(point, name)})
		} else {
			folders = append(folders, name)
		}
	}
	for _, folder := range folders {
		for _, name := range namesIn(root, path.Join(data, folder)) {
			if inner := path.Join(folder, name); isRegular(root, path.Join(data, inner)) {
				files = append(files, configFile{path.Join(data, inner), path.Join(point, inner)})
			}
		}
		if len(files) > maxConfigs {
			break
		}
	}
	return files
}

// namesIn are the names of a folder that do not begin with a dot, in order.
func namesIn(root *os.Root, name string) []string {
	about, err := root.Stat(name)
	if err != nil || !about.IsDir() {
		return nil
	}
	folder, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(maxNamesIn)
	names = slices.DeleteFunc(names, func(one string) bool { return one[0] == '.' })
	slices.Sort(names)
	return names
}

func isRegular(root *os.Root, name string) bool {
	about, err := root.Stat(name)
	return err == nil && about.Mode().IsRegular()
}
