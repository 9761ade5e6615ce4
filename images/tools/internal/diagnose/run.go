package diagnose

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"kdebug/tools/internal/target"
)

// Version of the image.
const Version = "0.3.0"

// Run looks, writes its report to out and, shortened, to the termination log. Exit code 0: it looked, whatever was found, or came too late and did
// nothing; 1: it could not look.
func Run(out io.Writer, settings Settings, began time.Time) int {
	look := &Look{Settings: settings, Began: began, Self: target.Whoami()}
	if err := target.CheckNotAfter(began); err != nil {
		if errors.Is(err, target.ErrTooLate) {
			look.Settings.Sample = 0
			return look.report(out, nil, "Started too late: this run was given up at "+settings.NotAfter+", so nothing was done.", 0)
		}
		return look.couldNot(out, err)
	}
	if err := look.find(); err != nil {
		return look.couldNot(out, err)
	}
	return look.report(out, look.look(), "", 0)
}

// Refuse says that nothing could be looked at, and why; exit code 1.
func Refuse(out io.Writer, settings Settings, began time.Time, why error) int {
	return (&Look{Settings: settings, Began: began, Self: target.Whoami()}).couldNot(out, why)
}

func (l *Look) couldNot(out io.Writer, why error) int {
	l.Target, l.facts = nil, nil
	return l.report(out, nil, fmt.Sprintf("Could not look: %v.", why), 1)
}

// find sets Target and Neighbours. That no target is visible is no error.
func (l *Look) find() error {
	if l.Settings.PID == "" {
		found, neighbours, err := target.FindFirst()
		if err != nil && !errors.Is(err, target.ErrNoTarget) {
			return err
		}
		l.Target, l.Neighbours, l.whyNone = found, neighbours, err
		return nil
	}
	pid, err := strconv.Atoi(l.Settings.PID)
	if err != nil || pid < 1 {
		return errors.New("AUTODIAGNOSE_PID is not a number")
	}
	if l.Target, err = target.OneOf(pid); err != nil {
		return fmt.Errorf("there is no process %d here", pid)
	}
	return nil
}
