package diagnose

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const deadVolume = "dead-volume"

// serveNothing mounts a FUSE file system whose server takes each request and answers none but the first: whoever asks for something of it waits in
// the kernel, which does not end him even by KILL. It says "ready", or why not, and ends when its input does.
func serveNothing(folder string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("dead", folder, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device))
	}
	buffer := make([]byte, 1<<20)
	if err == nil {
		_, err = unix.Read(device, buffer)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	// The header of 16 bytes (length, error, number of the request), then version 7.31 and what the kernel may send (fuse(4)).
	answer := make([]byte, 16+64)
	binary.LittleEndian.PutUint32(answer, uint32(len(answer)))
	copy(answer[8:16], buffer[8:16])
	for at, value := range map[int]uint32{16: 7, 20: 31, 24: 4096, 36: 1 << 17, 40: 1} {
		binary.LittleEndian.PutUint32(answer[at:], value)
	}
	if _, err := unix.Write(device, answer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	for err == nil || err == unix.EINTR {
		_, err = unix.Read(device, buffer)
	}
}

func TestAVolumeWhoseServerNeverAnswersIsSilentAndItsAskerAnotherProcess(t *testing.T) {
	folder := t.TempDir()
	//nolint:gosec // It is this test.
	server := exec.Command(os.Args[0], deadVolume, folder)
	server.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := server.StdoutPipe()
	must(t, err)
	in, err := server.StdinPipe()
	must(t, err)
	if err := server.Start(); err != nil {
		t.Skipf("no namespace of mounts may be made here: %v", err)
	}
	// The kernel then ends those who wait.
	defer func() { _ = server.Wait() }()
	defer in.Close()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skipf("no FUSE file system can be mounted here: %s", strings.TrimSpace(line))
	}
	root := "/proc/" + strconv.Itoa(server.Process.Pid) + "/root"
	answers := askVolumes(root, []mount{{point: folder, kind: "fuse"}, {point: "/", kind: "overlay"}})()
	if !slices.Equal(answers.silent, []string{folder}) || len(answers.disks) != 1 || answers.disks[0].path != "/" {
		t.Errorf("%+v", answers)
	}
}
