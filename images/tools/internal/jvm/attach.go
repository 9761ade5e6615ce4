package jvm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/target"
)

var errSilent = errors.New("the JVM does not answer")

const (
	// maxAnswer bounds what is kept of an answer.
	maxAnswer = 2 << 20
	// request asks for the threads: the version of the protocol, the command, and three arguments that are empty.
	request = "1\x00threaddump\x00\x00\x00\x00"
	step    = 20 * time.Millisecond
)

// Threads asks a JVM for its threads by its attach protocol, without a program between: who waits for all its children can start none. Lack must be nil
// before. It goes on while isWaiting says so, and fails where there is no answer until then. The JVM keeps its attach socket, /tmp/.java_pidPID.
func Threads(t *target.Target, isWaiting func() bool) (string, error) {
	socket := t.FS().Path(t.PID, "root", "tmp", fmt.Sprintf(".java_pid%d", t.PID))
	if err := wakeListener(t, socket, isWaiting); err != nil {
		return "", err
	}
	connection, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, request); err != nil {
		return "", err
	}
	var answer strings.Builder
	piece := make([]byte, 16<<10)
	for answer.Len() < maxAnswer {
		_ = connection.SetReadDeadline(time.Now().Add(step))
		size, err := connection.Read(piece)
		answer.Write(piece[:size])
		switch {
		case errors.Is(err, io.EOF):
			return answer.String(), nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return "", err
		case !isWaiting():
			return "", errSilent
		}
	}
	return answer.String(), nil
}

// wakeListener lets the JVM open its socket, as it does at SIGQUIT where a file of that name is there.
func wakeListener(t *target.Target, socket string, isWaiting func() bool) error {
	if isSocket(socket) {
		return nil
	}
	root, err := os.OpenRoot(t.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	trigger := fmt.Sprintf("tmp/.attach_pid%d", t.PID)
	file, err := root.OpenFile(trigger, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err == nil {
		file.Close()
		defer func() { _ = root.Remove(trigger) }()
	}
	if err := syscall.Kill(t.PID, syscall.SIGQUIT); err != nil {
		return err
	}
	for !isSocket(socket) {
		if !isWaiting() {
			return errSilent
		}
		time.Sleep(step)
	}
	return nil
}
