package pyframes

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/target"
	"kdebug/tools/internal/unwind"
)

const script = `
import threading, time
class Ledger:
    def post(self, amount):
        print("ready", flush=True)
        time.sleep(amount)
def später():
    Ledger().post(
        1000)
other = threading.Thread(target=time.sleep, args=(1000,), daemon=True)
other.start()
später()
`

// pythons are those of this machine, by their versions.
func pythons() map[string]string {
	found := map[string]string{}
	for _, pattern := range []string{"/usr/bin/python3.1?", "/usr/local/bin/python3.1?", os.Getenv("HOME") + "/.pyenv/versions/*/bin/python3.1?"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			found[strings.TrimPrefix(filepath.Base(name), "python")+" at "+name] = name
		}
	}
	return found
}

func TestTheStacksOfAStoppedPythonAreReadFromItsMemory(t *testing.T) {
	known := 0
	for version, program := range pythons() {
		if strings.HasPrefix(version, "3.10") {
			continue
		}
		known++
		t.Run(version, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "shop.py")
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(copied(t, program), file)
			command.Env = append(os.Environ(), "PYTHONHOME="+filepath.Dir(filepath.Dir(program)))
			out, _ := command.StdoutPipe()
			if err := command.Start(); err != nil {
				t.Skip(err)
			}
			defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Skip("no Python here: ", line)
			}
			time.Sleep(50 * time.Millisecond)
			_ = command.Process.Signal(syscall.SIGSTOP)
			stacks := stacksOf(t, command.Process.Pid)
			if len(stacks) != 2 {
				t.Errorf("%d threads", len(stacks))
			}
			if got, want := words(stacks[command.Process.Pid]), "Ledger.post:6 später:8 <module>:12"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if frames := stacks[command.Process.Pid]; len(frames) > 0 && (frames[0].File != file || !IsOwn(file)) {
				t.Errorf("file %q", frames[0].File)
			}
		})
	}
	if known == 0 {
		t.Skip("no Python that is known")
	}
}

// copied is the program under a name without its version, as images have it.
func copied(t *testing.T, program string) string {
	t.Helper()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Skip(err)
	}
	name := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(name, content, 0o755); err != nil { //nolint:gosec // It is to be started.
		t.Fatal(err)
	}
	return name
}

func stacksOf(t *testing.T, pid int) map[int][]unwind.Frame {
	t.Helper()
	of, err := target.Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	walker, err := unwind.Open(of, pid)
	if err != nil {
		t.Skip(err)
	}
	defer walker.Close()
	found := Find(walker)
	if found == nil {
		t.Fatal("not found")
	}
	began := time.Now()
	stacks := found.Stacks(walker, began.Add(10*time.Second))
	t.Logf("%s for %d threads", time.Since(began), len(stacks))
	return stacks
}

func words(frames []unwind.Frame) string {
	var words []string
	for _, each := range frames {
		words = append(words, fmt.Sprintf("%s:%d", each.Function, each.Line))
	}
	return strings.Join(words, " ")
}

// garbage is a memory of which every byte is what a hostile process would write.
type garbage byte

func (g garbage) Read(_ uint64, size int) []byte {
	data := make([]byte, size)
	for index := range data {
		data[index] = byte(g) + byte(index)
	}
	return data
}

func TestAMemoryOfGarbageEnds(t *testing.T) {
	for _, at := range layouts {
		for first := range 256 {
			(&Interpreter{1 << 20, at}).Stacks(garbage(first), time.Now().Add(20*time.Millisecond))
		}
	}
	table := make([]byte, told)
	copy(table, cookie)
	table[10], table[11] = 0x0d, 0x03
	for index := 24; index < told; index++ {
		table[index] = 0xff
	}
	if _, known := layoutOf13(table); known {
		t.Error("fields that cannot be are taken")
	}
	if line := (&code{firstLine: 7, lines: []byte{0xff, 0xf0, 0xe8}}).lineAt(1 << 40); line != 7 {
		t.Error(line)
	}
}
