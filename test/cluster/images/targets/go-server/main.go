// A shop that computes prices in a loop while a worker waits for stock that never comes. It listens on $PORT (8080) at all addresses, and for
// net/http/pprof on $PPROF (127.0.0.1:6060), or nowhere where that is empty. HOT is the share of a core that the loop takes (0 to 1; default 0.4).
package main

import (
	"fmt"
	"log"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"time"
)

var total float64

func main() {
	share, err := strconv.ParseFloat(setting("HOT", "0.4"), 64)
	if err != nil {
		log.Fatal(err)
	}
	go loopOverPrices(share)
	go waitForStock(make(chan int))
	if address := setting("PPROF", "127.0.0.1:6060"); address != "" {
		go func() { log.Fatal(http.ListenAndServe(address, http.DefaultServeMux)) }()
	}
	fmt.Println("ready")
	answer := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "open") }
	log.Fatal(http.ListenAndServe(":"+setting("PORT", "8080"), http.HandlerFunc(answer)))
}

func setting(name, otherwise string) string {
	if value, ok := os.LookupEnv(name); ok {
		return value
	}
	return otherwise
}

func loopOverPrices(share float64) {
	for {
		for until := time.Now().Add(time.Duration(share * float64(100*time.Millisecond))); time.Now().Before(until); {
			total += recompute(20_000)
		}
		if share < 1 {
			time.Sleep(time.Duration((1 - share) * float64(100*time.Millisecond)))
		}
	}
}

//go:noinline
func recompute(prices int) (sum float64) {
	for price := 1; price < prices; price++ {
		sum += discount(float64(price))
	}
	return sum
}

//go:noinline
func discount(price float64) float64 { return math.Mod(math.Sqrt(price)*math.Log(price), 7) }

func waitForStock(stock chan int) { fmt.Println(<-stock) }
