import { mergeConfig } from 'vitest/config';
import sample from './vitest.config.ts';

/** `npm run test:full`: the same files as `npm test`, with every case of what that samples. */
export default mergeConfig(sample, { test: { env: { KDEBUG_TEST: 'full' } } });
