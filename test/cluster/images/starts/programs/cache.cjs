console.log('filling the cache');
const cache = Buffer.alloc(512 * 2 ** 20, 1);
console.log(`cache of ${cache.length} bytes`);
