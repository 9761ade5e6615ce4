package gopprof

import (
	"strings"
	"testing"

	"kdebug/tools/internal/stack"
)

func TestOwnFramesAndIdleGoroutinesAreKnown(t *testing.T) {
	for name, each := range map[string]struct {
		thread stack.Thread
		module string
		own    string
		idle   bool
	}{
		"a request that waits for another server": {stack.Thread{State: "select", Frames: []string{"net/http.(*persistConn).roundTrip (transport.go:2700)", "net/http.(*Client).Do (client.go:585)",
			"example.com/shop/price.Fetch (price.go:9)", "net/http.(*conn).serve (server.go:2092)"}}, "example.com/shop", "price.Fetch (price.go:9)", false},
		"a request in a server's own module": {stack.Thread{State: "select", Frames: []string{"net/http.(*persistConn).roundTrip (transport.go:2700)",
			"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy.(*Handler).reverseProxy (reverseproxy.go:9)", "net/http.serverHandler.ServeHTTP (server.go:3)", "net/http.(*conn).serve (server.go:2092)"}},
			"example.com/caddy", "reverseproxy.(*Handler).reverseProxy (reverseproxy.go:9)", false},
		"a connection without a request": {stack.Thread{State: "IO wait", Frames: []string{"internal/poll.runtime_pollWait (netpoll.go:345)", "net/http.(*conn).serve (server.go:2092)"}}, "example.com/shop", "", true},
		"an acceptor of the program": {stack.Thread{State: "IO wait", Frames: []string{"internal/poll.runtime_pollWait (netpoll.go:345)", "net.(*TCPListener).Accept (tcpsock.go:380)",
			"net/http.(*Server).Serve (server.go:3330)", "main.main (main.go:9)"}}, "example.com/shop", "main.main (main.go:9)", true},
		"a database that is read from":   {stack.Thread{State: "IO wait", Frames: []string{"net.(*conn).Read (net.go:189)", "github.com/lib/pq.(*conn).recv (conn.go:9)", "main.query (main.go:70)"}}, "example.com/shop", "main.query (main.go:70)", false},
		"a library's own worker":         {stack.Thread{State: "select", Frames: []string{"database/sql.(*DB).connectionOpener (sql.go:1246)"}}, "", "", true},
		"a library of a known program":   {stack.Thread{State: "chan receive", Frames: []string{"github.com/shop/queue.run (queue.go:4)"}}, "github.com/shop/cart", "", true},
		"a program that is not readable": {stack.Thread{State: "chan receive", Frames: []string{"github.com/shop/queue.run (queue.go:4)"}}, "", "queue.run (queue.go:4)", false},
		"a lock":                         {stack.Thread{State: "sync.Mutex.Lock", Frames: []string{"sync.(*Mutex).Lock (mutex.go:90)", "main.add (main.go:3)"}}, "", "main.add (main.go:3)", false},
		"a library's lock":               {stack.Thread{State: "sync.Mutex.Lock", Frames: []string{"sync.(*Mutex).Lock (mutex.go:90)"}}, "", "", false},
		"a channel that nobody reads":    {stack.Thread{State: "chan send", Frames: []string{"net/http.x (x.go:1)"}}, "", "", false},
		"the wait for a signal":          {stack.Thread{State: "syscall", Frames: []string{"os/signal.signal_recv (sigqueue.go:152)"}}, "", "", true},
	} {
		threads := []stack.Thread{each.thread}
		mark(threads, each.module)
		if threads[0].Own != each.own || threads[0].Idle != each.idle {
			t.Errorf("%s: own %q, idle %v", name, threads[0].Own, threads[0].Idle)
		}
		if threads[0].Serves != strings.HasPrefix(name, "a request ") {
			t.Errorf("%s: serves %v", name, threads[0].Serves)
		}
	}
}
