package main

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/unwind"
)

const (
	// exitTold is what shells and the JVM give after SIGTERM.
	exitTold    = 128 + int(unix.SIGTERM)
	exitSignals = 128
	goPanicked  = 2
	// full is the share of a limit, in percent, from which on it is the container's own.
	full = 98
)

// isAsked is an end that somebody asked for, and that went as it should.
func (s *scene) isAsked() bool {
	told := s.death.Told
	return told != nil && s.death.Signal == 0 && (s.death.Code == 0 || s.death.Code == exitTold)
}

// isWell is an end as a program that was run once more may have: beside a container that should go on, it is none.
func (s *scene) isWell() bool { return s.self.isParent && s.death.Signal == 0 && s.death.Code == 0 }

// verdict is a sentence or two, and the code of the finding; "" for an end that is none.
func (s *scene) verdict() (code, words string) {
	who := capital(s.self.processOf(s.death.PID))
	switch {
	case s.isForMemory():
		return "died_of_memory", s.killedWords()
	case s.death.Signal == unix.SIGKILL:
		return "died_of_signal", fmt.Sprintf("%s was killed by SIGKILL%s%s%s.", who, s.afterTold(", which it did not follow"), s.where("; it was in "), s.unreadWords())
	case s.death.HasInfo && s.death.Info.IsFault() && s.death.Aborted:
		return "died_of_signal", fmt.Sprintf("%s gave itself up by abort()%s.", who, s.abortWords())
	case s.death.HasInfo && s.death.Info.IsFault():
		return "died_of_signal", fmt.Sprintf("%s died of %s (%s)%s%s.", who, signalName(s.death.Signal), s.cause(), s.where(" in "), s.inThread())
	case s.death.Signal == unix.SIGABRT:
		return "died_of_signal", fmt.Sprintf("%s gave itself up by abort() (SIGABRT)%s%s.", who, s.abortWords(), s.inThread())
	case s.death.Signal != 0:
		return "died_of_signal", fmt.Sprintf("%s died of %s%s%s.", who, signalName(s.death.Signal), s.sent(), s.where("; it was in "))
	case s.isAsked():
		return "", fmt.Sprintf("%s ended with exit code %d%s, as it was asked to.", who, s.death.Code, s.afterTold(""))
	}
	killed := s.killedBefore()
	switch {
	case killed != "":
		code = "died_of_memory"
	case !s.isWell():
		code = "died_of_exit"
	}
	return code, fmt.Sprintf("%s ended itself with exit code %d%s%s%s.", who, s.death.Code, s.exitWords(), s.afterTold(""), killed)
}

func (s *scene) sent() string {
	if s.death.HasInfo && s.death.Info.IsSent() {
		return ", sent " + s.sender(s.death.Info)
	}
	return ""
}

// where names the function that did it.
func (s *scene) where(before string) string {
	frames := s.frames()
	if len(frames) == 0 {
		return ""
	}
	script, isScript := s.scripts.tellingOf(s.death.Thread)
	own, isOwn := ownFrame(frames)
	switch {
	case isScript && isOwn:
		return before + nameOf(own) + ", called by " + nameOf(script)
	case isScript:
		return before + nameOf(script)
	}
	return before + nameOf(tellingFrame(frames))
}

func (s *scene) inThread() string {
	if s.death.Thread == s.death.PID {
		return ""
	}
	return fmt.Sprintf(", thread %d (%s)", s.death.Thread, report.Name(s.name, 20))
}

// afterTold is ", 0.3 s after SIGTERM from outside the container".
func (s *scene) afterTold(end string) string {
	told := s.death.Told
	if told == nil {
		return ""
	}
	return fmt.Sprintf(", %s after %s %s%s", spanOf(s.death.At.Sub(told.At)), signalName(told.Signal), s.sender(told.Info), end)
}

// exitWords says what an exit code means, as far as the stack and the runtime tell.
func (s *scene) exitWords() string {
	frames := s.frames()
	if words := s.runtimeWords(frames); words != "" {
		return words
	}
	if s.death.Code > exitSignals && s.death.Code < exitSignals+65 {
		return fmt.Sprintf(", as a shell does whose child ended by %s", signalName(unix.Signal(s.death.Code-exitSignals)))
	}
	if isEndOfMain(frames) {
		return ", by the end of its main function"
	}
	return s.where(", called in ")
}

// runtimeWords are those of the languages.
func (s *scene) runtimeWords(frames []unwind.Frame) string {
	runtime := s.self.runtimeOf(s.death.PID)
	switch {
	case calls(frames, "runtime.gopanic"):
		return fmt.Sprintf(", of a panic that nobody recovered%s", s.where(" in "))
	case runtime == target.Go && s.death.Code == goPanicked && calls(frames, "runtime.throw", "runtime.fatal", "runtime.fatalthrow"):
		return s.goFatalWords(frames)
	}
	if words := jvmCrashWords(frames); words != "" {
		return words
	}
	if words := s.reason(frames); words != "" {
		return words
	}
	if runtime == target.JVM && calls(frames, "os::exit", "_Z7vm_exiti") {
		return ", by System.exit"
	}
	return s.uncaughtWords(frames)
}

// jvmCrashWords name the function at whose fault the JVM ended itself; "" where it did not.
func jvmCrashWords(frames []unwind.Frame) string {
	if !calls(frames, jvmHandler) {
		return ""
	}
	if before := behind(frames, jvmHandler); len(before) > 0 {
		return fmt.Sprintf(", of a crash that the JVM caught in %s: its hs_err file has more", nameOf(tellingFrame(before)))
	}
	return ", of a crash that the JVM caught: its hs_err file has more"
}

// jvmHandler is the JVM's function that the kernel calls at a fault.
const jvmHandler = "JVM_handle_linux_signal"

// uncaught is what exit code 1 is of.
var uncaught = map[target.Runtime]string{
	target.Python: "an exception of Python that nobody caught: its log has the traceback",
	target.Node:   "an error of Node.js that nobody caught: its log has the stack",
	target.JVM:    "an exception of Java that nobody caught: its log has the stack",
	target.Ruby:   "an exception of Ruby that nobody caught: its log has the backtrace",
}

func (l *look) runtimeOf(pid int) target.Runtime {
	for _, each := range l.target.Processes {
		if each.PID == pid {
			return each.Runtime
		}
	}
	return target.Unknown
}

// report puts the findings into the report.
func (l *look) report(s *scene) {
	part := rules.NewPart(section)
	code, words := s.verdict()
	if code != "" {
		part.Find(code, 0, "%s", strings.TrimSuffix(words, "."))
		if next := s.next(); next != "" {
			part.Findings[0].Next = next
		}
	}
	part.Section.Text = fmt.Sprintf("held for %d ms", s.held.Milliseconds())
	l.result.Verdict = words
	if seen := l.seenBefore(); seen != "" {
		l.result.Verdict += " Before: " + strings.TrimSpace(seen)
	}
	l.result.Findings = part.Findings
	l.result.Sections = []report.Section{part.Section}
	l.addShots()
	l.result.Cost = report.CostSince(l.began)
}

// next is what to do where more is known than the rule says; "" else.
func (s *scene) next() string {
	switch {
	case s.isForMemory(), s.killedBefore() != "":
		return ""
	case s.death.Signal == unix.SIGKILL && s.death.Told != nil:
		return "Let it end on SIGTERM in time, or give it a longer terminationGracePeriodSeconds; a liveness probe that fails asks in the same way."
	case s.death.Signal == unix.SIGKILL:
		return "Look at the pod's events and the node's kernel log for who killed it: another process, or the kernel for the node's memory."
	case s.death.HasInfo && s.death.Info.IsFault() && s.isOverflow(s.death.Info.Address):
		return "Look for a recursion without an end in stacks.folded, or give the thread a larger stack."
	case s.death.Signal == 0 && calls(s.frames(), "runtime.gopanic"):
		return "Look at the function named here: its log has the panic's message."
	}
	return ""
}
