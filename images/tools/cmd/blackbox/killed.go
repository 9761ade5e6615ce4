package main

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
)

// memoryBefore is what the kernel counted so long before the death.
func (s *scene) memoryBefore(length time.Duration) cgroup.Memory {
	if seen, found := s.self.crowd.before(s.death.At, length); found {
		return seen.memory
	}
	return s.self.before.memory
}

// isForMemory is whether the kernel killed it because its container was out of memory.
func (s *scene) isForMemory() bool {
	return s.death.Signal == unix.SIGKILL && s.memory.Kills.Known && s.memory.Kills.Value > s.memoryBefore(beforeIt).Kills.Value
}

// together is how many processes the kernel killed at once, as version 2 of cgroups does (memory.oom.group); 0 where it killed by ones. It counts the one
// that it chose twice, but not where that is on its way out by then: who was there a moment before tells which.
func (s *scene) together() int64 {
	before := s.memoryBefore(beforeIt)
	killed := s.memory.Kills.Value - before.Kills.Value
	if seen := s.self.crowd.fullest(s.death.At); int64(len(seen.members)) == killed+1 {
		killed++
	}
	if s.memory.Together.Value > before.Together.Value && killed > 1 {
		return killed
	}
	return 0
}

// killedWords are those of a kill for memory, of one process or of all together.
func (s *scene) killedWords() string {
	all := s.together()
	if all == 0 {
		return fmt.Sprintf("%s was killed for memory%s%s.", capital(s.self.processOf(s.death.PID)), s.whereKilled(" in "), s.memoryWords())
	}
	words := fmt.Sprintf("The kernel killed all %d processes of the container together for memory", all)
	if largest, at := s.largest(); largest.pid != 0 {
		words += fmt.Sprintf("; the largest was %s, %s%s", nameOfMember(largest), size(largest.size), s.ageOf(at))
		if largest.pid == s.death.PID {
			words += s.whereKilled(", in ")
		}
	}
	return words + s.containerWords() + "."
}

// whereKilled is where; "" for a process whose memory, and with it its stack, the kernel has taken back.
func (s *scene) whereKilled(before string) string {
	if _, found := ownFrame(s.frames()); !found && s.numbers["VmRSS"] == 0 {
		return ""
	}
	return s.where(before)
}

// ownSize is what the process has in memory, or had before that was taken back.
func (s *scene) ownSize() int64 {
	for _, each := range s.self.crowd.fullest(s.death.At).members {
		if each.pid == s.death.PID {
			return max(each.size, s.numbers["VmRSS"])
		}
	}
	return s.numbers["VmRSS"]
}

// largest is the process that had most memory, and when it was looked at; the number 0 where nobody knows.
func (s *scene) largest() (member, glance) {
	seen := s.self.crowd.fullest(s.death.At)
	best := member{}
	for _, each := range seen.members {
		if each.pid == s.death.PID {
			each.size = s.ownSize()
		}
		if each.size > best.size {
			best = each
		}
	}
	return best, seen
}

// ageOf is " 0.9 s before" where the processes had much less by then than the container at its end.
func (s *scene) ageOf(seen glance) string {
	if seen.total() >= s.usedAtTheKill()/3*2 {
		return ""
	}
	return fmt.Sprintf(" %.1f s before", s.death.At.Sub(seen.at).Seconds())
}

// usedAtTheKill is what the container had when the kernel began: by now that may have been taken back. The peak is of that moment if it has grown since
// then.
func (s *scene) usedAtTheKill() int64 {
	used := max(s.memory.Used.Value, s.self.crowd.fullest(s.death.At).memory.Used.Value)
	if s.memory.Peak.Value > s.memoryBefore(beforeIt).Peak.Value {
		used = max(used, s.memory.Peak.Value)
	}
	return used
}

// memoryWords is ": the container had 60 MiB of its 64 MiB, this process 55 MiB"; "" where the kernel had taken all back before it was read.
func (s *scene) memoryWords() string {
	own := s.ownSize()
	switch {
	case s.memory.Limit.Known && own > 0:
		return s.containerWords(fmt.Sprintf(", this process %s", size(own)))
	case s.memory.Limit.Known:
		return s.containerWords()
	case own == 0:
		return ""
	}
	return fmt.Sprintf(": it had %s of memory when the kernel chose it", size(own))
}

// containerWords is ": the container had 60 MiB of its 64 MiB", with more about that, and why that was too much.
func (s *scene) containerWords(more ...string) string {
	if !s.memory.Limit.Known {
		return ""
	}
	used := s.usedAtTheKill()
	words := fmt.Sprintf(": the container had %s of its %s", size(used), size(s.memory.Limit.Value))
	for _, each := range more {
		words += each
	}
	if used < s.memory.Limit.Value/100*full {
		words += "; so its pod was full (this watch takes some of it), or the node"
	}
	return words
}

// killedBefore says that the kernel killed another process of the container for memory soon before this one ended itself; "" where it did not.
func (s *scene) killedBefore() string {
	now := s.memory.Kills
	if s.death.Signal != 0 || s.death.Code == 0 || !now.Known || now.Value <= s.memoryBefore(follows).Kills.Value {
		return ""
	}
	who := "a process of the container"
	if killed, found := s.lost(); found {
		who = fmt.Sprintf("%s, which had %s", nameOfMember(killed), size(killed.size))
	}
	return fmt.Sprintf("; before that, the kernel killed %s, for memory%s", who, s.containerWords())
}

// lost is the largest process that was there before the last kill for memory and is no more.
func (s *scene) lost() (member, bool) {
	seen, _ := s.self.crowd.newest(func(each glance) bool { return each.memory.Kills.Value < s.memory.Kills.Value })
	at := slices.IndexFunc(seen.members, func(each member) bool {
		_, lives := memberOf(textOf(s.self.target.FS().Path(each.pid, "stat")))
		return !lives
	})
	if at < 0 {
		return member{}, false
	}
	return seen.members[at], true
}

// nameOfMember is "process 17 (worker)".
func nameOfMember(of member) string {
	return fmt.Sprintf("process %d (%s)", of.pid, report.Line(of.name, 20))
}

// unreadWords are for a kill behind which nothing could be read: most likely for memory where little was left; "" else.
func (s *scene) unreadWords() string {
	seen := s.self.crowd.fullest(s.death.At)
	if !s.late || s.memory.Used.Known || !seen.isNearlyFull() {
		return ""
	}
	return fmt.Sprintf(", most likely for memory: nothing could be read behind it, and %.1f s before, the container had %s of its %s",
		s.death.At.Sub(seen.at).Seconds(), size(seen.memory.Used.Value), size(seen.memory.Limit.Value))
}
