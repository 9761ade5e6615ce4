import { defineConfig } from 'vitest/config';

/** Suites with a configuration of their own: they need a cluster, a built image, or the machine for themselves. */
export const ELSEWHERE = ['test/cluster/**', 'test/installed/**', 'test/attack/**'];

/**
 * Left to `npm run test:full`, because they cost most and seldom find what the others do not: the images and programs themselves, the page
 * of play, real faults of the servers, and the checks of documents that start programs.
 */
export const IN_FULL_ALONE = [
  'test/images/**',
  'test/browser/**',
  'test/play/page/**',
  'test/play/cluster/programs/**',
  'test/faults/**',
  'test/e2e/replicas-recovery.test.ts',
  'test/contract/documented-commands.test.ts',
  'test/contract/images.test.ts',
];

/** `npm test`: every feature at least once, and a sample of what has thousands of cases (test/support/sample.ts). */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...ELSEWHERE, ...IN_FULL_ALONE],
    // Much of a test is waiting (for a kubelet, a clock, a socket), so more workers than cores.
    maxWorkers: 5,
    // Long, since a busy machine delays what a test waits for: only a test that hangs takes so long.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: 'test/support/setup.ts',
    // To load the modules anew for each file is most of what these files cost.
    isolate: false,
    globalSetup: 'test/faults/support/boards.ts',
  },
});
