package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/pcapgo"
	"golang.org/x/sys/unix"
)

func taken(packets ...[]byte) Taken {
	var all Taken
	for index, data := range packets {
		all.Packets = append(all.Packets, Packet{At: time.Unix(1_700_000_000, int64(index)), Data: data, Length: len(data) + 1000})
	}
	return all
}

func TestTheSummaryFindsWhatHangsAndWhatBreaks(t *testing.T) {
	syn := tcp("10.0.0.1:40000", "10.0.0.9:5432", "S")
	part := taken(syn, syn, syn, tcp("10.0.0.1:40001", "10.0.0.8:80", "S"), tcp("10.0.0.8:80", "10.0.0.1:40001", "RA")).Look()
	var codes []string
	for _, finding := range part.Findings {
		codes = append(codes, finding.Code)
	}
	if strings.Join(codes, " ") != "capture_unanswered capture_resets" {
		t.Errorf("%v", codes)
	}
	text := strings.Join(part.Lines, "\n")
	if !strings.Contains(text, "10.0.0.1:40000 > 10.0.0.9:5432 tcp: 3 packets") || !strings.Contains(text, "asked 3 times and got no answer") || !strings.Contains(text, "10.0.0.1:40001 > 10.0.0.8:80 tcp: 2 packets") {
		t.Error(text)
	}
	if part := taken().Look(); len(part.Findings) != 1 || part.Findings[0].Code != "capture_empty" {
		t.Errorf("%+v", part)
	}
}

// Whatever the network brings, nothing breaks: each prefix of a packet, and each with a byte changed.
func TestTheSummaryStandsHostilePackets(t *testing.T) {
	whole := tcp("10.0.0.1:40000", "10.0.0.9:5432", "S")
	var all [][]byte
	for size := range whole {
		all = append(all, whole[:size])
		for _, value := range []byte{0, 0x7f, 0xff} {
			changed := bytes.Clone(whole)
			changed[size] = value
			all = append(all, changed)
		}
	}
	if sum := taken(all...).Sum(); len(sum.Conversations) == 0 {
		t.Error("nothing is counted")
	}
}

func TestThePcapIsReadBack(t *testing.T) {
	packets := [][]byte{tcp("10.0.0.1:40000", "10.0.0.9:5432", "S"), tcp("[fd00::1]:1", "[fd00::2]:2", "A")}
	file, err := taken(packets...).Pcap()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := pcapgo.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for index, want := range packets {
		data, info, err := reader.ReadPacketData()
		if err != nil || !bytes.Equal(data, want) || info.Length != len(want)+1000 || info.Timestamp.UnixNano() != 1_700_000_000_000_000_000+int64(index) {
			t.Errorf("%d: %v %+v", index, err, info)
		}
	}
}

// The loopback of this machine, where it may be watched.
func TestLiveTakesWhatPassesAndNoMore(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	program, err := compiler(t).Compile(t.Context(), fmt.Sprintf("host 127.0.0.1 and port %d", port), Snap)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
				_, _ = conn.Write(bytes.Repeat([]byte("x"), 2000))
				conn.Close()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	taken, err := Live(ctx, program, 20, 20*time.Second)
	if errors.Is(err, unix.EPERM) {
		t.Skip("NET_RAW is missing here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(taken.Packets) != 20 || !taken.Full || taken.For > 15*time.Second {
		t.Errorf("%d packets, full %v, in %s", len(taken.Packets), taken.Full, taken.For)
	}
	asks, long := 0, 0
	for _, each := range taken.Packets {
		if len(each.Data) > Snap || each.Length < len(each.Data) || time.Since(each.At) > time.Minute || time.Since(each.At) < 0 {
			t.Errorf("%d of %d bytes at %s", len(each.Data), each.Length, each.At)
		}
		if each.Length > 2000 {
			long++
		}
	}
	for _, each := range taken.Sum().Conversations {
		asks += each.Asks
		if each.Again > 0 || each.Repeats > 0 {
			t.Errorf("counted twice: %s", each)
		}
	}
	if asks == 0 || long == 0 {
		t.Errorf("%d connections, %d long packets", asks, long)
	}
}
