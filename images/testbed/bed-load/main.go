// bed-load is what is around a program of the test bed: its clients and its upstream, in the network of the same pod.
//
//	ok=RATE,URL             RATE requests a second; holds after five good answers
//	bad=RATE,URL            the same for answers of 500 and more
//	stuck=N,URL             N requests at once that nobody answers; holds when each has waited
//	silent=PORT             an upstream that takes requests and never answers; it answers "PING" lines, so that a pool can be filled
//	echo=PORT               an upstream that answers each request at once with "ok"
//	redis=RATE,PORT,WORDS   a command of Redis; redis-stuck=N,PORT,WORDS
//	sql=RATE,PORT,SQL       PostgreSQL; sql-stuck=N,PORT,SQL, and sql-hold=PORT,SQL leaves its transaction open;
//	                        ";;" parts statements that are sent one by one
//	odd=PORT                every few seconds what any open port meets: a client that leaves, a scanner's TLS, words of no protocol
//	up=PORT                 holds when that port takes a connection
//	after=SECONDS           holds after that time at the earliest
//
// It is the name server of the pod too, as its cluster may have none. It prints "ok MILLISECONDS" for each good answer, and "holds" when each part holds. It ends after BED_SECONDS (3600);
// with BED_QUIET it says nothing of single answers.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// waited is how long a request must be without an answer before the state holds: longer than what the images call a wait.
const waited = 8 * time.Second

func main() {
	seconds, err := strconv.Atoi(os.Getenv("BED_SECONDS"))
	if err != nil {
		seconds = 3600
	}
	time.AfterFunc(time.Duration(seconds)*time.Second, func() { os.Exit(0) })
	go serveNames()
	var all sync.WaitGroup
	for _, arg := range os.Args[1:] {
		kind, values, _ := strings.Cut(arg, "=")
		part, known := parts[kind]
		if !known {
			fmt.Println("no part " + kind)
			os.Exit(2)
		}
		all.Add(1)
		go part(values, sync.OnceFunc(all.Done))
	}
	all.Wait()
	fmt.Println("holds")
	select {}
}

// parts never return; they call holds when what they make is there.
var parts = map[string]func(values string, holds func()){
	"ok": func(values string, holds func()) {
		rate, url, _ := strings.Cut(values, ",")
		answered(rate, holds, getter(url))
	},
	"bad": func(values string, holds func()) {
		rate, url, _ := strings.Cut(values, ",")
		call := getter(url)
		failing := func() error {
			if err := call(); err == nil || !strings.HasPrefix(err.Error(), "5") {
				return fmt.Errorf("not bad: %v", err)
			}
			return nil
		}
		answered(rate, holds, failing)
	},
	"stuck": func(values string, holds func()) {
		n, url, _ := strings.Cut(values, ",")
		unanswered(n, holds, func() error { return getOnce(url) })
	},
	"redis": func(values string, holds func()) {
		f := strings.SplitN(values, ",", 3)
		answered(f[0], holds, redisCaller(f[1], f[2]))
	},
	"redis-stuck": func(values string, holds func()) {
		f := strings.SplitN(values, ",", 3)
		unanswered(f[0], holds, func() error { return redisCaller(f[1], f[2])() })
	},
	"sql": func(values string, holds func()) {
		f := strings.SplitN(values, ",", 3)
		answered(f[0], holds, sqlCaller(f[1], f[2]))
	},
	"sql-stuck": func(values string, holds func()) {
		f := strings.SplitN(values, ",", 3)
		unanswered(f[0], holds, func() error { return sqlCaller(f[1], f[2])() })
	},
	"sql-hold": func(values string, holds func()) {
		port, sql, _ := strings.Cut(values, ",")
		call := sqlCaller(port, sql)
		for call() != nil {
			time.Sleep(500 * time.Millisecond)
		}
		holds()
		select {}
	},
	"odd": func(port string, holds func()) {
		answered("0.2", holds, oddCaller(port))
	},
	"silent": listen(silent),
	"echo":   listen(echo),
	"up": func(port string, holds func()) {
		for !takes(port) {
			time.Sleep(200 * time.Millisecond)
		}
		holds()
	},
	"after": func(values string, holds func()) {
		seconds, _ := strconv.Atoi(values)
		time.Sleep(time.Duration(seconds) * time.Second)
		holds()
	},
}

// say is for who reads the log of the load. With BED_QUIET nobody does, and its lines would be words of the pod.
func say(format string, values ...any) {
	if os.Getenv("BED_QUIET") == "" {
		fmt.Printf(format, values...)
	}
}

// answered calls RATE times a second and prints how long each answer took.
func answered(rate string, holds func(), call func() error) {
	perSecond, _ := strconv.ParseFloat(rate, 64)
	good := 0
	for range time.Tick(time.Duration(float64(time.Second) / perSecond)) {
		began := time.Now()
		if err := call(); err != nil {
			say("failed: %.120v\n", err)
			continue
		}
		say("ok %.1f\n", float64(time.Since(began).Microseconds())/1000)
		if good++; good == 5 {
			holds()
		}
	}
}

// unanswered keeps N calls waiting.
func unanswered(number string, holds func(), call func() error) {
	n, _ := strconv.Atoi(number)
	var lock sync.Mutex
	since := make([]time.Time, n)
	for i := range n {
		go func() {
			for {
				lock.Lock()
				since[i] = time.Now()
				lock.Unlock()
				err := call()
				lock.Lock()
				since[i] = time.Time{}
				lock.Unlock()
				fmt.Printf("came back: %.120v\n", err)
				time.Sleep(500 * time.Millisecond)
			}
		}()
	}
	for range time.Tick(200 * time.Millisecond) {
		lock.Lock()
		waiting := 0
		for _, t := range since {
			if !t.IsZero() && time.Since(t) > waited {
				waiting++
			}
		}
		lock.Unlock()
		if waiting == n {
			holds()
			select {}
		}
	}
}
