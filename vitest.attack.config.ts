import { defineConfig } from 'vitest/config';

/** `npm run attack`: the review's attacks on the whole application (test/attack/README.md). */
export default defineConfig({
  test: {
    include: ['test/attack/**/*.test.ts'],
    globalSetup: 'test/attack/support/build.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Some measure how long others wait. What is mended holds within three tries on a busy machine; what hangs never does.
    retry: 2,
    // They measure how long others wait: two at once would measure each other.
    fileParallelism: false,
  },
});
