// A small shop in Go without net/http/pprof: what it asks, it asks its upstream on port 9999, without a time limit.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"sync"
)

var stock sync.Mutex

func priceFromUpstream() (string, error) {
	response, err := http.Get("http://127.0.0.1:9999/price")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func reserve() (string, error) {
	stock.Lock()
	defer stock.Unlock()
	return priceFromUpstream()
}

func hashOrders() (string, error) {
	sum := sha256.Sum256(nil)
	for sum[0] != 0 || sum[1] != 0 || sum[2] != 0 || sum[3] != 0 || sum[4] != 0 || sum[5] != 0 {
		sum = sha256.Sum256(sum[:])
	}
	return fmt.Sprintf("%x", sum), nil
}

// waitForEachOther hangs for ever: each takes the lock that the other has.
func waitForEachOther() (string, error) {
	var orders, shelf sync.Mutex
	var both sync.WaitGroup
	both.Add(2)
	take := func(first, second *sync.Mutex) {
		first.Lock()
		both.Done()
		both.Wait()
		second.Lock()
	}
	go take(&orders, &shelf)
	take(&shelf, &orders)
	return "", nil
}

func page(answer func() (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, err := answer()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, text)
	}
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", page(func() (string, error) { return "ok", nil }))
	mux.HandleFunc("/shop", page(priceFromUpstream))
	mux.HandleFunc("/upstream", page(priceFromUpstream))
	mux.HandleFunc("/lock", page(reserve))
	mux.HandleFunc("/busy", page(hashOrders))
	mux.HandleFunc("/deadlock", page(waitForEachOther))
	fmt.Println("ready")
	if err := http.ListenAndServe(":8080", mux); err != nil {
		panic(err)
	}
}
