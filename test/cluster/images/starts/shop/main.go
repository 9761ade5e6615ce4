// A Go program whose start depends on its first argument: prices (a table that nobody made), or serve (HTTPS with a
// certificate that nobody knows).
package main

import (
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"time"
)

type shop struct{ prices map[string]int }

func (s *shop) load() {
	s.prices["apple"] = 3
}

func serve() {
	listener, err := net.Listen("tcp", ":8443")
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Listener = listener
	server.StartTLS()
	select {}
}

func main() {
	log.Print("shop starts")
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serve()
	}
	go func() { time.Sleep(time.Hour) }()
	(&shop{}).load()
}
