package unwind

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// ourselves is the program of this test, and where it wants one of its functions to be in memory.
func ourselves(t *testing.T) (*program, uint64) {
	t.Helper()
	file, err := os.Open(os.Args[0])
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { file.Close() })
	read, err := readProgram(&pages{file: file})
	if err != nil {
		t.Fatal(err)
	}
	return read, uint64(reflect.ValueOf(TestGosTableNamesAFunction).Pointer())
}

func TestGosTableNamesAFunction(t *testing.T) {
	read, address := ourselves(t)
	table := read.goTableOf()
	found, ok := table.find(address)
	if !ok || !strings.HasSuffix(found.name, "unwind.TestGosTableNamesAFunction") {
		t.Fatalf("%v %q", ok, found.name)
	}
	file, line := found.source(address)
	wantFile, wantLine := runtime.FuncForPC(uintptr(address)).FileLine(uintptr(address))
	if filepath.Base(file) != filepath.Base(wantFile) || line != wantLine {
		t.Errorf("%s:%d, want %s:%d", file, line, wantFile, wantLine)
	}
	if depth, known := found.depth(address); !known || depth != 0 {
		t.Errorf("at its begin a function has no frame yet: %d %t", depth, known)
	}
	if _, ok := table.find(8); ok {
		t.Error("a function at address 8")
	}
}

func TestTheTableOfSymbolsNamesAFunction(t *testing.T) {
	read, address := ourselves(t)
	never := func() bool { return false }
	name := read.symbols([]uint64{address + 3, 8}, never)
	if len(name) == 0 {
		t.Skip("this test has no table of symbols")
	}
	if found := name[address+3]; !strings.HasSuffix(found.Function, "unwind.TestGosTableNamesAFunction") || found.Plus != 3 {
		t.Errorf("%+v", found)
	}
	if found := name[8]; found.Function != "" {
		t.Errorf("%+v", found)
	}
	if late := read.symbols([]uint64{address}, func() bool { return true }); len(late) > 0 {
		t.Error("it reads on although the time is up")
	}
}

func libc(t *testing.T) *os.File {
	t.Helper()
	for _, pattern := range []string{"/lib/*-linux-gnu/libc.so.6", "/usr/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			if file, err := os.Open(found[0]); err == nil {
				t.Cleanup(func() { file.Close() })
				return file
			}
		}
	}
	t.Skip("no libc here")
	return nil
}

func TestTheRulesOfAFunctionOfC(t *testing.T) {
	read, err := readProgram(&pages{file: libc(t)})
	if err != nil {
		t.Fatal(err)
	}
	begin := exported(t, read, "qsort")
	found, ok := read.find(begin)
	if !ok || begin < found.begin || begin >= found.end {
		t.Fatalf("%v %+v", ok, found)
	}
	now, ok := found.rulesAt(begin)
	if !ok || now.base != SP {
		t.Errorf("at its begin a frame is found from the stack pointer: %v, register %d", ok, now.base)
	}
	if scanned, ok := read.scan(begin); !ok || scanned.begin != found.begin {
		t.Error("without the table another function is found")
	}
}

func exported(t *testing.T, read *program, name string) uint64 {
	t.Helper()
	for _, each := range read.sections {
		if each.kind == sectionDynamic && int(each.link) < len(read.sections) {
			if value, found := read.valueOf(each, read.sections[each.link], "\x00"+name+"\x00"); found {
				return value
			}
		}
	}
	t.Skip("the C library does not export ", name)
	return 0
}

// liar is a file of which some bytes are others.
type liar struct {
	file  io.ReaderAt
	seed  uint64
	share int
}

func (l liar) ReadAt(into []byte, at int64) (int, error) {
	read, err := l.file.ReadAt(into, at)
	random := rand.New(rand.NewPCG(l.seed, uint64(at)))
	for range max(1, read/l.share) {
		if read > 6 {
			into[6+random.IntN(read-6)] = byte(random.Uint32())
		}
	}
	return read, err
}

// A target writes its own program: whatever is in it, reading it ends, and does not fail in another way than by finding nothing.
func TestAProgramThatLiesHarmsNobody(t *testing.T) {
	file := libc(t)
	self, err := os.Open(os.Args[0])
	if err != nil {
		t.Skip(err)
	}
	defer self.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(100) {
		for _, each := range []io.ReaderAt{file, self} {
			read, err := readProgram(liar{each, seed, 20 + random.IntN(4000)})
			if err != nil {
				continue
			}
			walker := &Walker{memory: liar{each, seed, 50}}
			for range 10 {
				address := uint64(random.Int64N(1 << 21))
				if found, ok := read.find(address); ok {
					if now, ok := found.rulesAt(address); ok && now.words != nil {
						walker.evaluate(now.words, &Registers{})
					}
				}
				if found, ok := read.goTableOf().find(address + 0x400000); ok {
					found.source(address + 0x400000)
					found.depth(address + 0x400000)
				}
			}
		}
	}
}

func TestAnExpressionIsEvaluated(t *testing.T) {
	var registers Registers
	registers.Numbered[SP] = 1000
	walker := &Walker{memory: strings.NewReader(strings.Repeat("\x07", 64))}
	for _, each := range []struct {
		name  string
		words []byte
		want  uint64
		ok    bool
	}{
		{"a register and a number", []byte{doBase + SP, 8}, 1008, true},
		{"what is in memory", []byte{doConst1, 8, doDeref}, 0x0707070707070707, true},
		{"the sum of a linkage table", []byte{doBase + SP, 8, doLiteral + 15, doLiteral + 15, doAnd, doLiteral + 11, doAtLeast, doLiteral + 3, doLeft, doPlus}, 1016, true},
		{"an operation that nobody knows", []byte{0xff}, 0, false},
		{"a sum of nothing", []byte{doPlus}, 0, false},
		{"nothing", nil, 0, false},
	} {
		if value, ok := walker.evaluate(each.words, &registers); value != each.want || ok != each.ok {
			t.Errorf("%s: %d %t", each.name, value, ok)
		}
	}
}

func TestAMapIsReadByItsLines(t *testing.T) {
	each, ok := mappingOf("7f00-7f80 r-xp 00001000 fe:01 42                         /lib/a b.so (deleted)")
	want := Mapping{Begin: 0x7f00, End: 0x7f80, Offset: 0x1000, May: "r-xp", Inode: 42, Path: "/lib/a b.so (deleted)"}
	if !ok || each != want {
		t.Errorf("%v %+v", ok, each)
	}
	if _, ok := mappingOf("nothing of a map"); ok {
		t.Error("that is none")
	}
}
