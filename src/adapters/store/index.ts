export { MemoryRunStore } from './memory-run-store.ts';
export { openRedisRunStore } from './redis/open.ts';
export { examineRedis } from './redis/redis-facts.ts';
