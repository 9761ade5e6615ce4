package cpu

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/target"
)

func TestAThreadThatWaitsForANameServerIsCounted(t *testing.T) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(socket)
	silent := syscall.SockaddrInet4{Port: 53, Addr: [4]byte{127, 83, 71, 12}}
	if err = syscall.Connect(socket, &silent); err != nil {
		t.Fatal(err)
	}
	if err = syscall.SetsockoptTimeval(socket, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 3}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// A thread of its own, as in a program whose resolver is the C library's.
		runtime.LockOSThread()
		_, _, _ = syscall.Recvfrom(socket, make([]byte, 9), 0)
	}()
	defer func() { <-ended }()
	time.Sleep(200 * time.Millisecond)
	found, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	meter := Start(found)
	time.Sleep(time.Second)
	if got := meter.Read().Asking; got != "1 thread waits for the name server 127.83.71.12:53" {
		t.Errorf("%q", got)
	}
}
