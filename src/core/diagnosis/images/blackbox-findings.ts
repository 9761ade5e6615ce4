import type { FindingRule } from '../facts/rules.ts';

/** The findings of the blackbox image: how the process that it watched has died. */
export const BLACKBOX_FINDINGS: readonly FindingRule[] = [
  {
    code: 'died_of_signal',
    seenBy: 'image',
    section: 'death',
    rank: 1,
    means: 'A signal that the process did not catch ended it: a fault of its own, abort(), or a kill from outside.',
    next: 'Look at the function named here, and at what changed in it with this version: death.txt has the whole stack.',
    source: 'No threshold: the kernel stops a traced process at its end (ptrace(2), PTRACE_O_TRACEEXIT; signal(7)).',
  },
  {
    code: 'died_of_exit',
    seenBy: 'image',
    section: 'death',
    rank: 1,
    means: 'The process ended itself with an exit code that says failure.',
    next: 'Look at what calls exit there, and at the last lines of its log: a program that ends itself mostly says why.',
    source: 'No threshold: any code but 0 (exit(3); ptrace(2), PTRACE_EVENT_EXIT).',
  },
  {
    code: 'died_of_memory',
    seenBy: 'image',
    section: 'death',
    rank: 1,
    means: 'The kernel killed the process because the container was at its memory limit.',
    next: 'Raise the memory limit or find what grows: the stack shows who asked for memory last, which may not be who holds it.',
    source: 'No threshold: memory.events oom_kill (cgroup-v2), memory.oom_control (cgroup-v1) rose at its end.',
  },
];
