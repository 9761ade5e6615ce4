import type { FindingRule } from '../facts/rules.ts';

/** The findings of the blackbox image: how a process ended, and what it did before. */
export const BLACKBOX_FINDINGS: readonly FindingRule[] = [
  {
    code: 'died_of_signal',
    seenBy: 'image',
    section: 'death',
    rank: 1,
    means: 'A process of the container was ended by a signal: a fault of its own, or one that somebody sent.',
    next: 'Look at the function named here, and at what changed in it with this version: death.txt has the whole stack.',
    source: 'Seen at the moment of its end by its tracer (ptrace(2), sigaction(2)).',
  },
  {
    code: 'died_of_exit',
    seenBy: 'image',
    section: 'death',
    rank: 1,
    means: 'A process of the container ended itself with an exit code, and nobody had asked it to.',
    next: 'Look at what calls exit there, and at the last lines of its log: a program that ends itself mostly says why.',
    source: 'Seen at the moment of its end by its tracer (PTRACE_EVENT_EXIT, ptrace(2)).',
  },
  {
    code: 'died_of_memory',
    seenBy: 'image',
    section: 'death',
    rank: 1,
    means: 'The kernel killed a process of the container because its memory, or that of its pod, was full.',
    next: 'Raise the memory limit or find what grows: the stack shows who asked for memory last, which may not be who holds it.',
    source: 'SIGKILL while the count of kills for memory of its cgroup went up (kernel, cgroup-v2, memory.events).',
  },
  {
    code: 'tripwire',
    seenBy: 'image',
    section: 'tripwire',
    rank: 2,
    means:
      'A condition that somebody set for a living process held: its memory, files, threads, queue or silence passed a number.',
    next: 'Look at the functions named here: tripwire.txt has all stacks and the minute before; stacks.folded is what to draw.',
    source:
      'The number of BLACKBOX_WHEN, passed in two readings in a row; the threads were stopped for it (ptrace(2), PTRACE_INTERRUPT).',
  },
];
