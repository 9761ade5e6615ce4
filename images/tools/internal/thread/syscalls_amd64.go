package thread

// calls are the system calls in which threads wait, by their numbers in asm/unistd_64.h.
var calls = map[int]call{
	0: reads, 17: reads, 19: reads, 45: reads, 47: reads, 295: reads, 299: reads, 327: reads,
	1: writes, 18: writes, 20: writes, 44: writes, 46: writes, 40: writes, 296: writes, 307: writes, 328: writes,
	42: connects, 43: accepts, 288: accepts,
	7: polls, 271: polls, 23: selects, 270: selects,
	232: events, 281: events, 441: events, 426: events, 208: events,
	202: locks, 449: locks, 455: locks,
	35: sleeps, 230: sleeps,
	61: children, 247: children,
	34: signals, 128: signals, 130: signals,
	74: syncs, 75: syncs, 26: syncs, 162: syncs, 277: syncs, 306: syncs,
	73: fileLocks, 72: fileLocks,
}
