import { defineConfig } from 'vitest/config';
import sample, { ELSEWHERE } from './vitest.config.ts';

/** `npm run test:full`: every test, with every case of what `npm test` samples. */
export default defineConfig({ test: { ...sample.test, exclude: ELSEWHERE, env: { KDEBUG_TEST: 'full' } } });
