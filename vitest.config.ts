import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/attack/**'],
    // Much of a test is waiting (for a kubelet, a clock, a socket), so one more worker than cores.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // What a test waits for comes as soon as a busy machine lets it.
    expect: { poll: { timeout: 10_000 } },
  },
});
