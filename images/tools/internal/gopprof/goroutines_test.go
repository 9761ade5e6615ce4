package gopprof

import (
	"testing"
)

const goroutines = `goroutine 21 [running]:
runtime/pprof.writeGoroutineStacks({0x9c0440, 0xc0000c2000})
	/usr/local/go/src/runtime/pprof/pprof.go:764 +0x6a
created by net/http.(*Server).Serve in goroutine 9
	/usr/local/go/src/net/http/server.go:3454 +0x485

goroutine 8 [chan receive, 12 minutes]:
main.waitForStock(...)
	/app/main.go:62
main.(*Shop).Run.func1({0x1, 0x2})
	/app/main.go:70 +0x12
created by main.main in goroutine 1
	/app/main.go:24 +0x7d

goroutine 9 gp=0xc00010 m=nil [select, 3 minutes, locked to thread]:
runtime.gopark()
	/usr/local/go/src/runtime/proc.go:424 +0xce
`

func TestGoroutinesAreRead(t *testing.T) {
	threads := Parse(goroutines)
	if len(threads) != 2 {
		t.Fatalf("%+v", threads)
	}
	first, second := threads[0], threads[1]
	if first.Name != "goroutine 8" || first.State != "chan receive" || first.Minutes != 12 || len(first.Frames) != 2 ||
		first.Frames[0] != "main.waitForStock (main.go:62)" || first.Frames[1] != "main.(*Shop).Run.func1 (main.go:70)" {
		t.Errorf("%+v", first)
	}
	if second.State != "select" || second.Minutes != 3 {
		t.Errorf("%+v", second)
	}
	if len(Parse("not a dump\n\n{}")) != 0 {
		t.Error("threads of nothing")
	}
}
