package thread

// calls are the system calls in which threads wait, by their numbers in asm-generic/unistd.h.
var calls = map[int]call{
	63: reads, 65: reads, 67: reads, 69: reads, 207: reads, 212: reads, 243: reads, 286: reads,
	64: writes, 66: writes, 68: writes, 70: writes, 71: writes, 206: writes, 211: writes, 269: writes, 287: writes,
	203: connects, 202: accepts, 242: accepts,
	73: polls, 72: selects,
	22: events, 441: events, 426: events, 4: events,
	98: locks, 449: locks, 455: locks,
	101: sleeps, 115: sleeps,
	260: children, 95: children,
	133: signals, 137: signals,
	82: syncs, 83: syncs, 227: syncs, 81: syncs, 84: syncs, 267: syncs,
	32: fileLocks, 25: fileLocks,
}
