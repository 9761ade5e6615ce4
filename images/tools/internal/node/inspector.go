// Package node asks a running Node.js for a CPU profile through its inspector, and closes it again.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"kdebug/tools/internal/sock"
	"kdebug/tools/internal/target"
)

// The inspector opens at SIGUSR1, on loopback, which all containers of the pod share, until it is closed.
const (
	opening = 5 * time.Second
	closing = 10 * time.Second
	// maxMessage bounds one answer: a long profile of a large program has some MiB.
	maxMessage = 24 << 20
)

var (
	// ErrClosed: the process took the signal and opened no inspector.
	ErrClosed = errors.New("the process opened no inspector at SIGUSR1: it handles that signal itself, or gets no CPU, and may still open it")
	// ErrUnhandled: the signal would end the process, so it was not sent.
	ErrUnhandled = errors.New("the inspector that was open does not answer, and the process does not handle SIGUSR1, which would end it")
	// ErrLeftOpen: the inspector could not be closed again.
	ErrLeftOpen = errors.New("the inspector could not be closed again")
)

// Lack says why the inspector may not be opened: a process without a handler for SIGUSR1 would end. Nil if it may.
func Lack(t *target.Target, self target.Self) *target.Lack {
	if lack := t.Signal(self); lack != nil {
		return lack
	}
	if t.Stopped() {
		return &target.Lack{Lacks: "the inspector: the process is stopped, and would open it when it goes on, with nobody to close it"}
	}
	// A target may have any number of ports that take a question and never answer.
	ctx, cancel := context.WithTimeout(context.Background(), opening)
	defer cancel()
	if !t.Handles(syscall.SIGUSR1) && inspectorOf(ctx, t) == nil {
		return &target.Lack{Lacks: "the inspector: the process does not handle SIGUSR1 (--disable-sigusr1, or it is just starting), which would end it"}
	}
	return nil
}

// inspector is one that listens.
type inspector struct {
	address string
	// wasOpen: it listened before we came, and so stays open.
	wasOpen bool
}

type page struct {
	Browser   string `json:"Browser"`
	WebSocket string `json:"webSocketDebuggerUrl"`
}

var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       2 * time.Second,
}

func getJSON(ctx context.Context, url string, value any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(io.LimitReader(answer.Body, 64*1024)).Decode(value)
}

// inspectorOf finds the inspector that the process listens with; nil if none.
func inspectorOf(ctx context.Context, t *target.Target) *inspector {
	for _, address := range sock.Listeners(t.FS(), t.PID) {
		var version page
		if getJSON(ctx, "http://"+address+"/json/version", &version) == nil && strings.HasPrefix(version.Browser, "node.js/") {
			return &inspector{address: address}
		}
	}
	return nil
}

// open opens the inspector, or finds the open one.
func open(ctx context.Context, t *target.Target) (*inspector, error) {
	if found := inspectorOf(ctx, t); found != nil {
		found.wasOpen = true
		return found, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	before := sock.Listeners(t.FS(), t.PID)
	// Lack was some seconds ago, and lets pass who had an inspector open then.
	if !t.Handles(syscall.SIGUSR1) {
		return nil, ErrUnhandled
	}
	if err := syscall.Kill(t.PID, syscall.SIGUSR1); err != nil {
		return nil, fmt.Errorf("SIGUSR1: %w", err)
	}
	if found := opened(ctx, t, before, opening); found != nil {
		return found, nil
	}
	// It was asked and cannot be told otherwise: it may have had no CPU until now, or our work is over. Who comes late is closed all the same.
	if found := opened(context.Background(), t, before, closing); found != nil {
		return found, nil
	}
	return nil, ErrClosed
}

// opened waits for an inspector among listeners that were not there before; nil if none comes in time.
func opened(ctx context.Context, t *target.Target, before []string, within time.Duration) *inspector {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if slices.Equal(before, sock.Listeners(t.FS(), t.PID)) {
			continue
		}
		if found := inspectorOf(ctx, t); found != nil {
			return found
		}
	}
	return nil
}

// session is a connection to the inspector.
type session struct {
	connection *websocket.Conn
	id         int
}

func (i *inspector) connect(ctx context.Context) (*session, error) {
	var pages []page
	if err := getJSON(ctx, "http://"+i.address+"/json/list", &pages); err != nil {
		return nil, err
	}
	if len(pages) == 0 || !strings.HasPrefix(pages[0].WebSocket, "ws://"+i.address+"/") {
		return nil, errors.New("the inspector names no address of its own")
	}
	connection, _, err := websocket.Dial(ctx, pages[0].WebSocket, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{}}})
	if err != nil {
		return nil, err
	}
	connection.SetReadLimit(maxMessage)
	return &session{connection: connection}, nil
}

// call sends one command and waits for its answer.
func (s *session) call(ctx context.Context, method string, params any, result any) error {
	s.id++
	text, err := json.Marshal(map[string]any{"id": s.id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if err := s.connection.Write(ctx, websocket.MessageText, text); err != nil {
		return err
	}
	for {
		_, answer, err := s.connection.Read(ctx)
		if err != nil {
			return err
		}
		var message struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(answer, &message); err != nil {
			return err
		}
		if message.ID != s.id {
			continue
		}
		if message.Error != nil {
			return fmt.Errorf("%s: %s", method, message.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(message.Result, result)
	}
}

// evaluate runs an expression in the process and gives its value.
func (s *session) evaluate(ctx context.Context, expression string, value any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := s.call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "silent": true, "includeCommandLineAPI": true}, &answer)
	if err != nil {
		return err
	}
	if answer.Exception != nil {
		return errors.New(answer.Exception.Text)
	}
	if value == nil || len(answer.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, value)
}

// closeAgain ends a look's use of an inspector that a look opened, and makes sure that it is closed, unless another look uses it. It does not use
// the context of the work: that may be over.
func closeAgain(t *target.Target, opened *inspector, look string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	for ctx.Err() == nil {
		if !slices.Contains(sock.Listeners(t.FS(), t.PID), opened.address) {
			return nil
		}
		if session, err := opened.connect(ctx); err == nil {
			// The answer may never come: the connection ends with the inspector.
			within, stop := context.WithTimeout(ctx, 3*time.Second)
			others := session.leave(within, look)
			stop()
			_ = session.connection.CloseNow()
			if others {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ErrLeftOpen
}
