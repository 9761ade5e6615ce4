// Command govictim ends in the way that its argument names, once there is a byte to read, and after as many milliseconds as the
// second says.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type order struct{ lines []int }

//go:noinline
func crash(o *order) int { return o.lines[3] }

//go:noinline
func panics() { panic("the order has no lines") }

func main() {
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	if len(os.Args) > 2 {
		pause, _ := time.ParseDuration(os.Args[2] + "ms")
		time.Sleep(pause)
	}
	switch os.Args[1] {
	case "panic":
		panics()
	case "nil":
		crash(nil)
	case "goroutine":
		go panics()
		select {}
	case "exit":
		os.Exit(5)
	case "fatal":
		all := map[int]int{}
		for range 8 {
			go func() {
				for n := 0; ; n++ {
					all[n%10] = n
				}
			}()
		}
		select {}
	case "deadlock":
		var lock sync.Mutex
		lock.Lock()
		lock.Lock()
	}
	select {}
}
