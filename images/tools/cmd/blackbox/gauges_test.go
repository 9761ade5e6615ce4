package main

import (
	"math"
	"net"
	"strconv"
	"testing"
	"time"
)

// measure asks a gauge until its value is as wanted.
func measure(t *testing.T, of gauge, isWanted func(value float64, known bool) bool) {
	t.Helper()
	for until := time.Now().Add(testPatience); ; time.Sleep(10 * time.Millisecond) {
		value, known := of.read(time.Now())
		if isWanted(value, known) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("it is %f, %t: %s", value, known, of.words())
		}
	}
}

func listen(t *testing.T, address string) (net.Listener, int) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener, listener.Addr().(*net.TCPAddr).Port
}

func TestAPortIsSlowUntilItsProgramAccepts(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "[::1]:0"} {
		listener, port := listen(t, address)
		slow := &portGauge{port: port}
		measure(t, slow, func(value float64, known bool) bool { return known && value > 0.2 })
		if server, err := listener.Accept(); err == nil {
			server.Close()
		}
		measure(t, slow, func(float64, bool) bool { return slow.wasOpen })
		listener.Close()
		slow.next = time.Time{}
		measure(t, slow, func(float64, bool) bool { return slow.isRefused })
	}
}

func TestAPortThatWasNeverOpenIsNotSlow(t *testing.T) {
	listener, port := listen(t, "127.0.0.1:0")
	listener.Close()
	never := &portGauge{port: port}
	if value, known := never.read(time.Now()); known || !never.isRefused {
		t.Errorf("%f, %t", value, known)
	}
}

// accepts accepts until the listener is closed.
func accepts(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		defer client.Close()
	}
}

func TestAPortIsNotSlowWhereOnlyTheWatchWas(t *testing.T) {
	listener, port := listen(t, "127.0.0.1:0")
	go accepts(listener)
	prompt := &portGauge{port: port}
	now := time.Now()
	prompt.read(now)
	time.Sleep(100 * time.Millisecond)
	// Nobody gave the watch the CPU for so long.
	for _, later := range []time.Duration{3 * time.Second, 3100 * time.Millisecond} {
		if value, known := prompt.read(now.Add(later)); !known || value > 1 {
			t.Errorf("%f, %t", value, known)
		}
	}
}

func TestAListenerThatIsOpenedAnewIsNotRefused(t *testing.T) {
	listener, port := listen(t, "127.0.0.1:0")
	go accepts(listener)
	reloaded := &portGauge{port: port}
	measure(t, reloaded, func(float64, bool) bool { return reloaded.wasOpen })
	listener.Close()
	now := time.Now()
	reloaded.next = now
	if value, _ := reloaded.read(now); !math.IsInf(value, 1) {
		t.Errorf("a refusal is %f", value)
	}
	anew, err := net.Listen("tcp", listener.Addr().String())
	if err != nil {
		t.Skip(err)
	}
	defer anew.Close()
	go accepts(anew)
	if value, known := reloaded.read(now.Add(again)); !known || value > 1 {
		t.Errorf("%f, %t", value, known)
	}
}

func TestTheQueueOfAListenerIsCounted(t *testing.T) {
	_, port := listen(t, "127.0.0.1:0")
	for range 3 {
		client, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
	}
	measure(t, &queueGauge{}, func(value float64, known bool) bool { return known && value >= 3 })
}

func TestSamplesKeepTheLastMinuteOnly(t *testing.T) {
	victim := start(t, false, cVictim(t, "wait"))
	all := newSamples("/proc", victim.pid, nil)
	now := time.Now()
	for second := range 2 * kept {
		all.take(now.Add(time.Duration(second) * time.Second))
	}
	lines := all.lines(now.Add(2 * kept * time.Second))
	if len(lines) != kept+1 {
		t.Fatal(len(lines))
	}
	if last := all.ring[(all.count-1)%kept]; last.threads != 1 || last.resident <= 0 || last.files <= 0 || last.computed < 0 || last.memory != -1 {
		t.Errorf("%+v", last)
	}
}
