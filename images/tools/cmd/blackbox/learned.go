package main

import (
	"os"
	"strconv"
	"sync"
	"time"

	"kdebug/tools/internal/target"
)

// learned is what was learned of a living program: at its end there is little time, and a large one takes long to read.
type learned struct {
	mutex   sync.Mutex
	program string
	target  *target.Target
	python  *interpreter
}

// learnings are when the program is read, after its start: it may run another one in its place, as a script that ends in exec.
var learnings = []time.Duration{500 * time.Millisecond, 3 * time.Second, 20 * time.Second}

func (p *parent) learn() {
	for _, each := range learnings {
		time.Sleep(time.Until(p.began.Add(each)))
		if p.told.Load() {
			return
		}
		p.learned.read(p.child.PID)
	}
}

// read reads the program that the process runs now, unless it is known.
func (k *learned) read(pid int) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	program, err := os.Readlink(target.Proc.Path(pid, "exe"))
	if err != nil || k.program == program && k.target != nil {
		return
	}
	found, err := target.Of(pid)
	if err != nil {
		return
	}
	k.program, k.target, k.python = program, found, findPython(found)
}

// known is what was learned; nil where nothing was.
func (k *learned) known() (*target.Target, *interpreter) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.target, k.python
}

// refresh puts what is known of the program into the look.
func (p *parent) refresh() {
	p.learned.read(p.child.PID)
	if p.learned.target == nil {
		return
	}
	p.target, p.python = p.learned.target, p.learned.python
	p.target.Status.Name = nameIn(p.target)
	p.target.Processes = []target.Process{p.target.Process}
}

// nameIn is the name that the process has now.
func nameIn(t *target.Target) string {
	if status, err := t.FS().Status(strconv.Itoa(t.PID)); err == nil {
		return status.Name
	}
	return t.Status.Name
}
