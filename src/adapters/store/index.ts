export { MemoryRunStore } from './memory-run-store.ts';
export { openRedisRunStore } from './redis/open.ts';
