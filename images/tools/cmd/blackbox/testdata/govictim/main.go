// Command govictim ends in the way that its argument names.
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
	time.Sleep(300 * time.Millisecond)
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
