package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// getter keeps its connection, as clients and proxies do.
func getter(url string) func() error {
	client := &http.Client{Timeout: 10 * time.Second}
	return func() error { return get(client, url) }
}

// getOnce waits as long as it takes.
func getOnce(url string) error {
	return get(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, url)
}

func get(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)); err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return errors.New(response.Status)
	}
	return nil
}

// redisCaller sends one command a call, over one connection.
func redisCaller(port, words string) func() error {
	var conn net.Conn
	var answers *bufio.Reader
	return func() error {
		if conn == nil {
			c, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err != nil {
				return err
			}
			conn, answers = c, bufio.NewReader(c)
		}
		var command strings.Builder
		list := strings.Split(words, "|")
		fmt.Fprintf(&command, "*%d\r\n", len(list))
		for _, word := range list {
			fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(word), word)
		}
		if _, err := io.WriteString(conn, command.String()); err != nil {
			conn = nil
			return err
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			conn = nil
			return err
		}
		if strings.HasPrefix(line, "-") {
			return errors.New(line)
		}
		if strings.HasPrefix(line, "$") && !strings.HasPrefix(line, "$-1") {
			_, err = answers.ReadString('\n')
		}
		return err
	}
}

// sqlCaller sends one text of statements a call, over one session; the server must trust the user postgres.
func sqlCaller(port, sql string) func() error {
	var conn net.Conn
	return func() error {
		if conn == nil {
			c, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err != nil {
				return err
			}
			hello := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00application_name\x00shop\x00\x00"
			if err := send(c, 0, hello); err != nil {
				return err
			}
			if err := untilReady(c); err != nil {
				c.Close()
				return err
			}
			conn = c
		}
		for _, statement := range strings.Split(sql, ";;") {
			err := send(conn, 'Q', statement+"\x00")
			if err == nil {
				err = untilReady(conn)
			}
			if err != nil {
				conn.Close()
				conn = nil
				return err
			}
		}
		return nil
	}
}

func send(conn net.Conn, kind byte, body string) error {
	var message []byte
	if kind != 0 {
		message = append(message, kind)
	}
	message = binary.BigEndian.AppendUint32(message, uint32(len(body)+4))
	_, err := conn.Write(append(message, body...))
	return err
}

func untilReady(conn net.Conn) error {
	var failed error
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(conn, body); err != nil {
			return err
		}
		switch head[0] {
		case 'E':
			failed = fmt.Errorf("%.200q", body)
		case 'Z':
			return failed
		}
	}
}

func listen(serve func(net.Conn)) func(string, func()) {
	return func(port string, holds func()) {
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			fmt.Println(err)
			return
		}
		holds()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}
}

// silent answers lines "PING", so that a client can prove its connection before it waits, and nothing else.
func silent(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if lines.Text() == "PING" {
			fmt.Fprintln(conn, "PONG")
		}
	}
	conn.Close()
}

// echo answers any request of HTTP, or any other line.
func echo(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if !strings.HasSuffix(lines.Text(), "HTTP/1.1") && !strings.HasSuffix(lines.Text(), "HTTP/1.0") {
			fmt.Fprintln(conn, "ok")
			continue
		}
		for lines.Scan() && lines.Text() != "" {
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\nok\n")
	}
}

func takes(port string) bool {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// oddCaller does in turn what a scanner, a health check and a client that changes its mind do.
func oddCaller(port string) func() error {
	words := []string{
		"",
		"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03" + strings.Repeat("\x2a", 32) + "\x00\x00\x04\x13\x01\x00\x2f\x01\x00",
		"GET /.env HTTP/1.1\r\nHost: shop\r\n",
		"hello\r\n\r\n",
	}
	turn := 0
	return func() error {
		said := words[turn%len(words)]
		turn++
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, said); err != nil || said == "" {
			return err
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		_, err = io.Copy(io.Discard, io.LimitReader(conn, 1<<16))
		return err
	}
}
