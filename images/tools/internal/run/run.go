// Package run starts the tools that an image brings along, within limits of time and output.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// MaxOutput is how much of a tool's output is kept; the rest is read and dropped.
const MaxOutput = 24 << 20

// ErrTimeout: the tool was ended because the context was over.
var ErrTimeout = errors.New("no answer in time")

// Output runs a tool and gives what it wrote to its standard output. An error has the tool's own words, on one line. When
// the context ends, the tool gets TERM, and KILL 2 s later.
func Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	out, failed := &bounded{most: MaxOutput}, &bounded{most: 4096}
	command.Stdout, command.Stderr = out, failed
	command.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 2 * time.Second
	err := command.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return out.Bytes(), ErrTimeout
	}
	words := strings.TrimSpace(failed.String())
	if words == "" {
		words = strings.TrimSpace(out.String())
	}
	words = strings.Join(strings.Fields(words), " ")
	if len(words) > 300 {
		words = words[:300]
	}
	if words == "" {
		return out.Bytes(), err
	}
	return out.Bytes(), fmt.Errorf("%s (%w)", words, err)
}

type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
