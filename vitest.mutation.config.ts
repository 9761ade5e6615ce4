import { defineConfig } from 'vitest/config';

/** The tests that the mutation run uses: those of what it mutates, and of the flow that stands on it. */
export default defineConfig({
  test: {
    include: [
      'test/core/policy/**/*.test.ts',
      'test/core/run/**/*.test.ts',
      'test/core/container/**/*.test.ts',
      'test/flow/**/*.test.ts',
    ],
  },
});
