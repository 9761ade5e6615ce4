package pid1

import (
	"os"
	"testing"
)

func TestBytesThatNobodyHasReadAreWaitedFor(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if waiting(write) {
		t.Error("an empty pipe has bytes")
	}
	_, _ = write.Write([]byte("panic: no table"))
	if !waiting(write) {
		t.Error("a full pipe has none")
	}
	seen := make(chan int)
	go func() {
		var bytes [64]byte
		count, _ := read.Read(bytes[:])
		seen <- count
	}()
	Drained(write)
	if count := <-seen; count != 15 || waiting(write) {
		t.Errorf("%d bytes", count)
	}
}

func TestAFileIsNotWaitedFor(t *testing.T) {
	file, err := os.Open("drained_test.go")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	if waiting(null) {
		t.Error("nothing waits there")
	}
	Drained(null)
}
