import { defineConfig } from 'vitest/config';

/** `npm run test:installed`: the built images, installed in the cluster that KUBECONFIG names (test/installed/setup.ts says what it needs). */
export default defineConfig({
  test: {
    include: ['test/installed/**/*.test.ts'],
    globalSetup: 'test/installed/setup.ts',
    // They tell the same stories as elsewhere; only the crash loop's wait is left to the other suite.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // One namespace, one Slack.
    fileParallelism: false,
  },
});
