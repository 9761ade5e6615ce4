package gopprof

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// Goroutines gives the goroutines of a Go process that serves pprof. Fails with ErrNone where none of its ports does.
func Goroutines(ctx context.Context, t *target.Target) (*stack.Dump, error) {
	within, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	server, err := Find(within, t)
	if err != nil {
		return nil, err
	}
	text, err := server.Get(within, "goroutine?debug=2", run.MaxOutput)
	if err != nil {
		return nil, err
	}
	dump := &stack.Dump{Process: t.Process, Runtime: strings.TrimSpace("Go " + t.Version), Text: string(text), Pause: "all goroutines stopped for the moment of the dump"}
	if dump.Threads = Parse(dump.Text); len(dump.Threads) == 0 {
		return nil, errors.New("its answer has no goroutine")
	}
	mark(dump.Threads, moduleOf(t))
	dump.Notes = append(dump.Notes, "from net/http/pprof at "+server.String())
	for _, thread := range dump.Threads {
		// A goroutine that reads our own request is always among them.
		ours := len(thread.Frames) > 0 && strings.HasPrefix(thread.Frames[0], "net/http.(*connReader)")
		if !ours && (thread.State == "running" || thread.State == "runnable") {
			dump.Hot = append(dump.Hot, stack.Sample{Frames: thread.Frames, Value: 1})
		}
	}
	return dump, nil
}

var goroutine = regexp.MustCompile(`^goroutine (\d+)(?: gp=\S+ m=\S+(?: mp=\S+)?)? \[([^\],]+)(?:, (\d+) minutes)?[^\]]*\]:`)

// Parse reads the goroutines of a dump, but for the one that writes it.
func Parse(text string) []stack.Thread {
	var threads []stack.Thread
	for block := range strings.SplitSeq(text, "\n\n") {
		lines := strings.Split(strings.TrimLeft(block, "\n"), "\n")
		found := goroutine.FindStringSubmatch(lines[0])
		if found == nil {
			continue
		}
		minutes, _ := strconv.Atoi(found[3])
		thread := stack.Thread{Name: "goroutine " + found[1], State: found[2], Minutes: minutes}
		for index := 1; index+1 < len(lines); index += 2 {
			name, place := lines[index], lines[index+1]
			if strings.HasPrefix(name, "created by ") || !strings.HasPrefix(place, "\t") {
				break
			}
			thread.Frames = append(thread.Frames, frameOf(name, strings.TrimSpace(place)))
		}
		if len(thread.Frames) > 0 && strings.HasPrefix(thread.Frames[0], "runtime/pprof.writeGoroutineStacks") {
			continue
		}
		threads = append(threads, thread)
	}
	return threads
}

// frameOf is a function without its arguments, which are addresses, and its place without folders.
func frameOf(name, place string) string {
	if at := strings.LastIndexByte(name, '('); at > 0 {
		name = name[:at]
	}
	place, _, _ = strings.Cut(place, " +0x")
	if slash := strings.LastIndexByte(place, '/'); slash >= 0 {
		place = place[slash+1:]
	}
	return fmt.Sprintf("%s (%s)", name, place)
}
