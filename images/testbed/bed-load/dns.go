package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// serveNames is the name server of a cluster in small: each Service has an address, and no other name exists.
func serveNames() {
	packets, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		fmt.Println(err)
		return
	}
	go serveNamesOverTCP()
	query := make([]byte, 1500)
	for {
		n, from, err := packets.ReadFrom(query)
		if err != nil {
			return
		}
		if answer := answerName(query[:n]); answer != nil {
			packets.WriteTo(answer, from)
		}
	}
}

func serveNamesOverTCP() {
	listener, err := net.Listen("tcp", "127.0.0.1:53")
	if err != nil {
		return
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			var length [2]byte
			if _, err := io.ReadFull(conn, length[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(conn, query); err != nil {
				return
			}
			answer := answerName(query)
			conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
		}()
	}
}

func answerName(query []byte) []byte {
	const head, typeA, notThere = 12, 1, 3
	name, end := "", head
	for end < len(query) && query[end] != 0 {
		next := end + 1 + int(query[end])
		if next >= len(query) {
			return nil
		}
		name += strings.ToLower(string(query[end+1:next])) + "."
		end = next
	}
	if end+5 > len(query) {
		return nil
	}
	answer := append([]byte{}, query[:end+5]...)
	binary.BigEndian.PutUint16(answer[2:], 0x8580)
	binary.BigEndian.PutUint16(answer[4:], 1)
	copy(answer[6:head], make([]byte, 6))
	switch {
	case !strings.HasSuffix(name, ".svc.cluster.local.") || strings.Count(name, ".") != 5:
		answer[3] |= notThere
	case binary.BigEndian.Uint16(query[end+1:]) == typeA:
		answer[7] = 1
		// The name of the question, A, IN, 30 seconds, four bytes.
		answer = append(answer, 0xc0, head, 0, typeA, 0, 1, 0, 0, 0, 30, 0, 4, 10, 96, 0, 1)
	}
	return answer
}
