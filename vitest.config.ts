import { defineConfig } from 'vitest/config';

/** Files that measure time or memory, or replace a module: each gets a process of its own. */
const MEASURED = [
  'test/**/*linear*.test.ts',
  'test/adapters/slack/receiving/flood.test.ts',
  'test/config/pattern-probe.test.ts',
  'test/core/report/log/log-filter-memory.test.ts',
];

/** `npm test`: every feature at least once, and a sample of what has thousands of cases (test/support/sample.ts). */
export default defineConfig({
  test: {
    // Much of a test is waiting (for a kubelet, a clock, a socket), so more workers than cores.
    maxWorkers: 5,
    // Long, since a busy machine delays what a test waits for: only a test that hangs takes so long.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: 'test/support/setup.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/installed/**', 'test/attack/**', ...MEASURED],
          // To load the modules anew for each file is most of what these files cost.
          isolate: false,
          globalSetup: 'test/faults/support/boards.ts',
        },
      },
      // A busy machine spoils one measure; a defect spoils each.
      { extends: true, test: { name: 'measured', include: MEASURED, retry: 2 } },
    ],
  },
});
