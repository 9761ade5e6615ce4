// Command govictim ends in the way that its argument names, once there is a byte to read.
package main

import (
	"fmt"
	"os"
	"sync"
)

type order struct{ lines []int }

//go:noinline
func crash(o *order) int { return o.lines[3] }

//go:noinline
func panics() { panic("the order has no lines") }

func main() {
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
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
