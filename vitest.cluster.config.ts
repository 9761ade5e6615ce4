import { defineConfig } from 'vitest/config';

/** `npm run test:cluster`: the same end-to-end tests, and those that need a kubelet, on the cluster that KUBECONFIG names. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    env: {
      KDEBUG_TEST_CLUSTER: '1',
      // Each is played for up to a minute: a few of them, unless somebody asks for all, or for some by name (a,b).
      KDEBUG_TROUBLES: process.env.KDEBUG_TROUBLES ?? (process.env.KDEBUG_TEST === 'full' ? 'all' : 'some'),
      KDEBUG_TEST: 'full',
    },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // One node: files that share it would starve each other.
    fileParallelism: false,
  },
});
