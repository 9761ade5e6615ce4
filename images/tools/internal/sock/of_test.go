package sock

import (
	"net"
	"os"
	"testing"

	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

func TestOnlyTheTargetsOwnSocketsAreOfIt(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	all, err := sockets.All()
	if err != nil {
		t.Fatal(err)
	}
	found, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	own := Of(found, append(all, sockets.Socket{State: "ESTAB", Inode: 1}))
	isThere := false
	for _, each := range own {
		if each.Inode == 1 {
			t.Error("a socket of nobody is of the target")
		}
		isThere = isThere || each.State == "LISTEN" && each.Local.String() == listener.Addr().String()
	}
	if !isThere {
		t.Errorf("its listener is not among %d", len(own))
	}
}
