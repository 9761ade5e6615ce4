package target

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAGoProgramIsKnownWithItsVersion(t *testing.T) {
	if kind, version := byProgram("/proc/self/exe"); kind != Go || "go"+version != strings.Fields(runtime.Version())[0] {
		t.Errorf("%s %s, not %s", kind, version, runtime.Version())
	}
}

func TestWhatIsNoProgramIsNotKnown(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "a script": "#!/bin/sh\n" + strings.Repeat("x", 100), "of 32 bits": "\x7fELF\x01\x01" + strings.Repeat("\x00", 100)} {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if kind, version := byProgram(file); kind != Unknown || version != "" {
			t.Errorf("%s is %s %s", name, kind, version)
		}
	}
	if kind, _ := byProgram(filepath.Join(t.TempDir(), "gone")); kind != Unknown {
		t.Errorf("a file that is gone is %s", kind)
	}
}

// As an attacker would write it: every byte of the header is a lie in turn, and must end the search, not the program.
func TestAHostileProgramIsReadWithoutHarm(t *testing.T) {
	whole, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program")
	for at := 6; at < 64; at++ {
		head := bytes.Clone(whole[:min(len(whole), 8192)])
		head[at] = 0xff
		if err := os.WriteFile(file, head, 0o600); err != nil {
			t.Fatal(err)
		}
		if kind, _ := byProgram(file); kind != Go && kind != Native {
			t.Errorf("byte %d: %s", at, kind)
		}
	}
}

// exports is a program of three sections: its exported names, as given, and their symbols, each defined or not.
func exports(names string, symbols ...[2]uint16) []byte {
	strings := "\x00" + names
	var table bytes.Buffer
	for _, each := range symbols {
		line := make([]byte, 24)
		line[0], line[6] = byte(each[0]), byte(each[1])
		table.Write(line)
	}
	const header = 64
	sectionNames := "\x00.dynsym\x00"
	at := header + len(strings) + table.Len() + len(sectionNames)
	head := make([]byte, header)
	copy(head, "\x7fELF\x02\x01")
	head[40], head[41], head[58], head[60], head[62] = byte(at), byte(at>>8), 64, 3, 2
	program := append(append(append(head, strings...), table.Bytes()...), sectionNames...)
	for _, each := range []struct{ name, kind, offset, size, link int }{
		{0, int(elf.SHT_STRTAB), header, len(strings), 0},
		{1, int(elf.SHT_DYNSYM), header + len(strings), table.Len(), 0},
		{0, int(elf.SHT_STRTAB), header + len(strings) + table.Len(), len(sectionNames), 0},
	} {
		line := make([]byte, 64)
		line[0], line[4], line[24], line[25], line[32], line[33], line[40] = byte(each.name), byte(each.kind), byte(each.offset), byte(each.offset>>8), byte(each.size), byte(each.size>>8), byte(each.link)
		program = append(program, line...)
	}
	return program
}

func TestAProgramThatHoldsARuntimeIsKnownByWhatItExports(t *testing.T) {
	const node = "node_module_register\x00"
	for _, each := range []struct {
		what    string
		program []byte
		runtime Runtime
	}{
		{"it exports node's", exports(node, [2]uint16{1, 7}), Node},
		{"its name is the end of a longer one", exports("x"+node, [2]uint16{2, 7}), Node},
		{"it takes node's from a library", exports(node, [2]uint16{1, 0}), Native},
		{"another symbol is exported", exports("a\x00"+node, [2]uint16{1, 7}), Native},
		{"python's, the second", exports("a\x00Py_BytesMain\x00", [2]uint16{1, 7}, [2]uint16{3, 7}), Python},
		{"ruby's", exports("ruby_init_stack\x00", [2]uint16{1, 7}), Ruby},
		{"nothing", exports("main\x00", [2]uint16{1, 7}), Native},
	} {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, each.program, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := byProgram(file); got != each.runtime {
			t.Errorf("%s: %s, not %s", each.what, got, each.runtime)
		}
	}
}
