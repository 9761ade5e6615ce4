package main

import (
	"fmt"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/room"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// stuckMinutes is from when on a waiting goroutine counts as stuck.
const stuckMinutes = 3

// parts are the sections of the report: what the threads wait for, what computes, and which connections nobody answers.
func (l *look) parts() []*rules.Part {
	stacks, cpu, waits := rules.NewPart("stacks"), rules.NewPart("cpu"), rules.NewPart("sockets")
	var told []string
	for _, dump := range l.dumps {
		findLocks(stacks, dump)
		findInCPU(cpu, dump)
		if len(dump.Threads) > 0 {
			told = append(told, stack.Summary(dump.Threads))
		}
	}
	for _, dump := range l.others {
		findInCPU(cpu, dump)
	}
	l.findPools(stacks)
	for _, dump := range l.dumps {
		findLoops(stacks, dump)
	}
	l.findTitles(stacks)
	for _, dump := range append(append([]*stack.Dump{}, l.dumps...), l.others...) {
		findHanging(stacks, dump)
	}
	stacks.Section.Text = report.Counted(len(l.dumps), "process")
	if count := len(l.threads()); count > 0 {
		stacks.Section.Text = fmt.Sprintf("%s in %s: %s", report.Counted(count, l.unit()), stacks.Section.Text, strings.Join(told, "; "))
	}
	cpu.Section.Text = l.cpuWords()
	if cpu.Section.Text == "" {
		cpu.Section.Text = "it used little CPU"
	}
	for _, dump := range l.dumps {
		if dump.Unseen != "" && stacks.Section.State == report.OK {
			stacks.Section.State, stacks.Section.Lacks = report.NotReadable, dump.Unseen
		}
	}
	if lack := l.lack(); lack != nil {
		stacks.Section.Lacks, stacks.Section.Helps = lack.Lacks, lack.Helps
		stacks.Section.State = report.NotReadable
	}
	sockets.FindUnanswered(waits, l.sockets)
	l.attempts.FindAttempts(waits)
	waits.Section.Text = report.Counted(len(l.sockets), "socket")
	return append([]*rules.Part{stacks, cpu, waits}, l.memoryParts()...)
}

// memoryParts are one part as autodiagnose has it, or none where nobody can tell: without it, a container about to be killed would be called well.
func (l *look) memoryParts() []*rules.Part {
	if !l.memory.Used.Known {
		return nil
	}
	part := rules.NewPart("memory")
	room.FindMemory(part, l.memory)
	part.Section.Text = fmt.Sprintf("%d MiB in use", l.memory.Working()>>20)
	if limit := l.memory.Limit.Value; limit > 0 {
		part.Section.Text += fmt.Sprintf(" of %d MiB, %d%%", limit>>20, room.Share(l.memory))
	}
	return []*rules.Part{part}
}

// lack is why no stack could be had of any process; nil if one could.
func (l *look) lack() *target.Lack {
	for _, dump := range l.dumps {
		if dump.Lack == nil {
			return nil
		}
	}
	if len(l.dumps) == 0 {
		return &target.Lack{Lacks: "a process"}
	}
	return l.dumps[0].Lack
}

func findLocks(part *rules.Part, dump *stack.Dump) {
	for _, names := range dump.Deadlocks {
		part.Find("deadlock", 0, "%d threads wait for each other’s locks: %s", len(names), placesOf(dump, names))
	}
	for _, lock := range stack.Locks(dump.Threads) {
		if lock.By != nil {
			part.Find("lock_queue", float64(lock.Held()), "%d threads wait for a lock that %s holds%s", len(lock.Waiters), lock.Holder, holding(*lock.By))
		}
	}
	findGoroutines(part, dump)
	stuck := map[string][]stack.Thread{}
	for _, each := range dump.Threads {
		// A goroutine knows how long it has waited; other threads do not.
		if each.Minutes >= stuckMinutes && !isSending(each) && each.ID == 0 && !each.Idle && each.State != "IO wait" && each.State != "syscall" {
			place := ownOrFirst(each.Own, each.Frames) + " (" + each.State + ")"
			stuck[place] = append(stuck[place], each)
		}
	}
	for _, place := range sorted(stuck) {
		longest := 0
		for _, each := range stuck[place] {
			longest = max(longest, each.Minutes)
		}
		part.Find("same_place", float64(len(stuck[place])), "%d goroutines wait in %s, for up to %d minutes", len(stuck[place]), place, longest)
	}
	if dump.Silent != "" {
		part.Find("runtime_silent", 0, "%s", dump.Silent)
	}
	if dump.Exposed != "" {
		part.Find("inspector_open", 0, "%s", dump.Exposed)
	}
}

// isSending is whether a goroutine has waited for a second or longer for another to take what it sends.
func isSending(each stack.Thread) bool {
	return each.ID == 0 && strings.HasPrefix(each.State, "chan send") && each.Waits()
}

// isLocked is whether a goroutine has waited for a second or longer for a mutex.
func isLocked(each stack.Thread) bool {
	return each.ID == 0 && each.Own != "" && stack.Classify(each) == thread.Lock && each.Waits()
}

// findGoroutines tells of many that wait at one place for a channel to be read, or for a mutex: Go names neither reader nor holder.
func findGoroutines(part *rules.Part, dump *stack.Dump) {
	sending, locked := map[string][]stack.Thread{}, map[string][]stack.Thread{}
	for _, each := range dump.Threads {
		place := ownOrFirst(each.Own, each.Frames)
		if isSending(each) {
			sending[place] = append(sending[place], each)
		}
		if isLocked(each) && dump.Process.Runtime != target.JVM {
			locked[place] = append(locked[place], each)
		}
	}
	for _, place := range sorted(locked) {
		part.Find("lock_queue", float64(len(locked[place])), "%d goroutines wait for a lock in %s", len(locked[place]), place)
	}
	for _, place := range sorted(sending) {
		part.Find("same_place", float64(len(sending[place])), "%d goroutines wait in %s to send to a channel that is not read", len(sending[place]), place)
	}
}

// findPools finds pools among the threads of all processes, so that workers with one thread each are one as well.
func (l *look) findPools(part *rules.Part) {
	held := map[string]bool{}
	for _, dump := range l.dumps {
		for _, lock := range stack.Locks(dump.Threads) {
			held[lock.Name] = lock.By != nil
		}
	}
	for _, pool := range l.pools() {
		// Its queue at the lock names the holder as well, or is told as goroutines.
		if held[pool.Waiting[0].WaitsFor] || isLocked(pool.Waiting[0]) && strings.HasPrefix(pool.Name, "goroutine") {
			continue
		}
		part.Find("pool_waits", float64(len(pool.Waiting)), "%s", poolWords(pool))
	}
}

// findLoops tells of an event loop whose own thread waits for something: only at its events may it wait.
func findLoops(part *rules.Part, dump *stack.Dump) {
	for _, each := range dump.Threads {
		if !blocksLoop(each) {
			continue
		}
		words := "the event loop of " + nameOf(dump) + " waits" + waitsIn(each.Own, []stack.Thread{each})
		if each.Kernel.Waited >= time.Second {
			words += ", for " + span(each.Kernel.Waited)
		}
		part.Find("event_loop_waits", 0, "%s: nothing else of it runs", words)
		return
	}
}

func blocksLoop(each stack.Thread) bool {
	switch stack.Classify(each) {
	case thread.OnCPU, thread.Ready, thread.Queue:
		return false
	}
	return each.InLoop && each.Waits()
}

func findHanging(part *rules.Part, dump *stack.Dump) {
	var hanging []stack.Thread
	for _, each := range dump.Threads {
		if stack.Classify(each) == thread.Disk {
			hanging = append(hanging, each)
		}
	}
	if len(hanging) > 0 {
		part.Find("thread_in_kernel", float64(len(hanging)), "%s of %s %s", report.Counted(len(hanging), "thread"), nameOf(dump), stack.Does(hanging[0]))
	}
}

// poolWords is "all 10 http-nio-8080-exec threads wait in Shop.upstream, reading from 10.1.2.3:5432, for 12 s".
func poolWords(pool stack.Pool) string {
	noun := "threads"
	switch {
	case pool.Waiting[0].ID == 0 && strings.HasPrefix(pool.Name, "goroutine"):
		noun, pool.Name = "goroutines", "of the program’s own"
	case strings.HasSuffix(pool.Name, processes):
		noun, pool.Name = "processes", strings.TrimSuffix(pool.Name, processes)
	}
	words := fmt.Sprintf("all %d %s %s wait", pool.Total, pool.Name, noun)
	if len(pool.Waiting) < pool.Total {
		words = fmt.Sprintf("%d of %d %s %s wait", len(pool.Waiting), pool.Total, pool.Name, noun)
	}
	if noun == "goroutines" {
		words = fmt.Sprintf("%d goroutines wait", len(pool.Waiting))
	}
	words += waitsIn(pool.Own, pool.Waiting)
	if pool.Waited >= time.Second {
		words += fmt.Sprintf(", for %s", span(pool.Waited))
	}
	if pool.Other != nil {
		words += fmt.Sprintf("; %s is in %s, %s", pool.Other.Name, short(pool.Other.Own), stack.Does(*pool.Other))
	}
	return words
}

// waitsIn says where threads wait, and for what: " in price (shop.py:3), for a lock", " for the name server 10.0.0.10:53".
func waitsIn(own string, threads []stack.Thread) string {
	words := waitWords(threads)
	if own == "" && strings.HasPrefix(words, ", for ") {
		return words[1:]
	}
	return in(short(own)) + words
}

// waitWords say what threads wait for, where that is the same for all and says something.
func waitWords(threads []stack.Thread) string {
	does := stack.Does(threads[0])
	for _, each := range threads {
		if stack.Does(each) != does {
			return ""
		}
	}
	switch stack.Classify(threads[0]) {
	case thread.Lock:
		return ", for a lock"
	case thread.Socket:
		if threads[0].ID == 0 {
			return ", for the network"
		}
		return ", " + strings.TrimPrefix(does, "waiting ")
	case thread.Timer, thread.Disk:
		return ", " + does
	}
	return ""
}
