import type { FindingRule } from '../facts/rules.ts';

/** The findings of the profile image, besides those it shares with stacks (busy_thread); autodiagnose has waits_for_cpu too. */
export const PROFILE_FINDINGS: readonly FindingRule[] = [
  {
    code: 'hot_path',
    seenBy: 'image',
    section: 'profile',
    rank: 3,
    means: 'Most of the CPU time goes into one function and what it calls.',
    threshold: 50,
    unit: '%',
    next: 'Look at cpu.png: each box is a function on the one that called it, as wide as its share of the CPU time.',
    source: 'Chosen: more than everything else together. It is what the process does, not yet a mistake.',
  },
  {
    code: 'hot_function',
    seenBy: 'image',
    section: 'profile',
    rank: 3,
    means: 'One function itself, without what it calls, takes much of the CPU time.',
    threshold: 30,
    unit: '%',
    next: 'Look at what this function computes, and how often it is called: making it cheaper pays most.',
    source: 'Chosen: to make it twice as fast then saves a seventh of the CPU.',
  },
  {
    code: 'waits_for_cpu',
    seenBy: 'image',
    section: 'cpu',
    rank: 2,
    means: 'A thread of the process was ready to run and had no CPU for much of the time.',
    threshold: 30,
    unit: '%',
    next: 'Raise or remove its CPU limit, or look at what else runs on the node: autodiagnose tells throttling apart.',
    nextImage: 'profile',
    source:
      'Chosen: it then takes nearly half as long again for everything. Counted by the kernel (schedstat; sched-stats.txt).',
  },
];
