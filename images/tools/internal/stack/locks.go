package stack

import "sort"

// Lock is one that threads wait for.
type Lock struct {
	Name, Kind string
	// Holder is the name of the thread that has it, and By that thread; empty and nil where the runtime does not say.
	Holder  string
	By      *Thread
	Waiters []string
	waiting []Thread
}

// Locks are those that threads wait for and whose owner is known, the most wanted first.
func Locks(threads []Thread) []Lock {
	holders := map[string]*Thread{}
	for index := range threads {
		for _, lock := range threads[index].Holds {
			// Who waits on a lock's condition has given it up for that time.
			if lock != threads[index].WaitsFor {
				holders[lock] = &threads[index]
			}
		}
	}
	found := map[string]*Lock{}
	for _, thread := range threads {
		if thread.WaitsFor == "" {
			continue
		}
		holder := holders[thread.WaitsFor]
		if holder == nil && thread.State != "BLOCKED" {
			continue
		}
		lock := found[thread.WaitsFor]
		if lock == nil {
			lock = &Lock{Name: thread.WaitsFor, Kind: thread.WaitsForKind, By: holder}
			if holder != nil {
				lock.Holder = holder.Name
			}
			found[thread.WaitsFor] = lock
		}
		lock.Waiters = append(lock.Waiters, thread.Name)
		lock.waiting = append(lock.waiting, thread)
	}
	locks := make([]Lock, 0, len(found))
	for _, lock := range found {
		locks = append(locks, *lock)
	}
	sort.Slice(locks, func(a, b int) bool {
		if len(locks[a].Waiters) != len(locks[b].Waiters) {
			return len(locks[a].Waiters) > len(locks[b].Waiters)
		}
		return locks[a].Name < locks[b].Name
	})
	return locks
}

// Held is how many threads have waited for it without having it for a tenth of a second or more: short turns are what a lock is for.
func (l Lock) Held() int {
	const turns = 10
	count := 0
	for _, waiter := range l.waiting {
		if waiter.Kernel.Runs <= turns {
			count++
		}
	}
	return count
}
