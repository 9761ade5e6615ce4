import { parseArgs } from 'node:util';
import { hasRedis } from '../../adapters/store/redis/redis-server.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));

if (!Number.isSafeInteger(seed) || !(seconds > 0)) {
  process.stderr.write('usage: npm run soak -- [--seconds=60] [--seed=NUMBER]\n');
  process.exit(2);
}
if (!hasRedis) process.exit(1);
process.stdout.write(`soak seed ${seed}, ${seconds} s\n`);
const found = await soak({ seed, seconds });
const { tally, commands, accepted, refused, unanswered, votes, forgotten, mishaps } = found;
for (const line of found.story) process.stdout.write(`    ${line}\n`);
for (const what of tally.broken) process.stdout.write(`  ${what}\n`);
const count = [...mishaps.values()].reduce((sum, times) => sum + times, 0);
const wrong = tally.broken.length - tally.lost - tally.duplicates;
process.stdout.write(
  `soak seed ${seed}: ${seconds} s, 3 replicas, ${commands} commands (${accepted} accepted, ${refused} refused, ${unanswered} unanswered), ` +
    `${votes} clicks, ${count} mishaps of ${mishaps.size} kinds, ${forgotten} cards forgotten: ` +
    `lost ${tally.lost}, duplicates ${tally.duplicates}, wrong ${wrong}\n`,
);
// Replicas that were killed here leave promises that nobody keeps.
process.exit(tally.broken.length === 0 ? 0 : 1);
