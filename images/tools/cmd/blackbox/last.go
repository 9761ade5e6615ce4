package main

import "os"

// last is the termination log, held open from the beginning: a program that we start may close it for us by its mode, and write a message of its own.
type last struct{ file *os.File }

func openLast(path string) *last {
	//nolint:gosec // It is made by the kubelet.
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return &last{}
	}
	return &last{file}
}

// clear takes away what is there: once nobody else lives, a message that the program left must not outlive an error of ours.
func (l *last) clear() {
	if l.file != nil {
		_ = l.file.Truncate(0)
	}
}

// write puts the text in the place of all that is there. An error leaves what it leaves: the log says the same.
func (l *last) write(text []byte) {
	if l.file == nil {
		return
	}
	l.clear()
	_, _ = l.file.WriteAt(text, 0)
}
