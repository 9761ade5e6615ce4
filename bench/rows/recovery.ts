import { setTimeout as pause } from 'node:timers/promises';
import type { RunningApp } from '../app.ts';
import { atMost, ms, type Row } from '../figures.ts';
import { Fleet, type Judgement } from '../fleet.ts';
import type { BenchOptions } from '../options.ts';
import { hasRedis } from '../redis.ts';

const REPLICAS = 3;
const ADOPTED_LIMIT_MS = 5_000;
const RESTARTED_LIMIT_MS = 2_000;
const EMPTIED_LIMIT_MS = 10_000;
const EXIT_LIMIT_MS = 10_000;
/** Long enough that every container still runs when the worst happens, and for a while afterwards. */
const RUN_SECONDS = 15;
const LIMIT_MS = 30_000;

/** B9 and B11: processes of the built program on one real Redis, runs in flight, and then one of them goes. */
export async function* recovery({ flights, drained, batchPods }: BenchOptions): AsyncGenerator<Row> {
  if (!hasRedis)
    return yield { name: 'recovery', figures: { 'not measured': 'there is no redis-server' }, targets: [] };
  for (const pods of batchPods) {
    yield await batched(pods, 'kill -9 of the replica that holds it');
    yield await batched(pods, 'Redis emptied');
  }
  yield await killed(flights);
  yield await restarted(flights, 'SIGTERM');
  yield await restarted(flights, 'kill -9');
  yield await emptied(flights);
  yield await left(drained);
}

async function on<Result>(runs: number, measure: (fleet: Fleet) => Promise<Result>): Promise<Result> {
  const fleet = await Fleet.open(runs);
  try {
    return await measure(fleet);
  } finally {
    await fleet.close();
  }
}

const started = async (fleet: Fleet, replicas: number): Promise<readonly RunningApp[]> =>
  Promise.all(Array.from({ length: replicas }, () => fleet.start()));

/** When each of so many runs was taken up, in milliseconds since `sinceMs`. */
async function takenUp(apps: readonly RunningApp[], { message, runs, sinceMs }: TakenUp): Promise<readonly number[]> {
  const times = () =>
    apps
      .flatMap(({ said }) => said)
      .filter((line) => line.message === message && line.atMs >= sinceMs)
      .map(({ atMs }) => atMs - sinceMs)
      .sort((a, b) => a - b);
  const untilMs = performance.now() + LIMIT_MS;
  while (times().length < runs && performance.now() < untilMs) await pause(10);
  return times();
}

interface TakenUp {
  readonly message: string;
  readonly runs: number;
  readonly sinceMs: number;
}

const toldText = ({ lost, duplicates }: Judgement): string => `lost ${lost}, duplicates ${duplicates}`;
const isOnce = ({ lost, duplicates }: Judgement): boolean => lost === 0 && duplicates === 0;
const onceEach = (judgement: Judgement) => ({
  text: 'every run told once: lost 0, duplicates 0',
  met: isOnce(judgement),
});
const spanText = (times: readonly number[]): string =>
  `first ${ms(times[0] ?? Number.NaN)}, all ${times.length} ${ms(times.at(-1) ?? Number.NaN)}`;

function batched(pods: number, what: 'kill -9 of the replica that holds it' | 'Redis emptied'): Promise<Row> {
  const limitMs = what === 'Redis emptied' ? EMPTIED_LIMIT_MS : ADOPTED_LIMIT_MS;
  return on(pods, async (fleet) => {
    await started(fleet, REPLICAS);
    const [holder] = fleet.apps;
    await fleet.askBatch();
    const sinceMs = performance.now();
    if (what === 'Redis emptied') await fleet.redis.empty();
    else await holder?.kill();
    const before = fleet.launched;
    await fleet.reached(before + 1);
    const progressMs = performance.now() - sinceMs;
    const judgement = await fleet.finishBatch();
    return {
      name: `recovery: a batch over ${pods} pods, ${REPLICAS} replicas: ${what} after ${before}`,
      figures: { 'from then to the next launch': ms(progressMs), 'in the end': toldText(judgement) },
      targets: [
        { text: `progress ≤ ${ms(limitMs)}`, met: progressMs <= limitMs },
        { text: 'one anchor, one result, one container in each pod', met: isOnce(judgement) },
      ],
    };
  });
}

function killed(flights: number): Promise<Row> {
  return on(flights, async (fleet) => {
    const [first, ...others] = await started(fleet, REPLICAS);
    await fleet.ask(RUN_SECONDS);
    const sinceMs = performance.now();
    await first?.kill();
    const runs = Math.ceil(flights / REPLICAS);
    const times = await takenUp(others, { message: 'run adopted', runs, sinceMs });
    const judgement = await fleet.finish();
    return {
      name: `recovery: kill -9 of one of ${REPLICAS} replicas, ${flights} runs in flight`,
      figures: { 'from the kill to adoption': spanText(times), 'in the end': toldText(judgement) },
      targets: [
        { text: `all adopted ≤ ${ms(ADOPTED_LIMIT_MS)}`, met: atMost(lastOf(times, runs), ADOPTED_LIMIT_MS) },
        onceEach(judgement),
      ],
    };
  });
}

const lastOf = (times: readonly number[], runs: number): number => times[runs - 1] ?? Number.POSITIVE_INFINITY;

/** Who is told to go gives its runs back; after `kill -9` their leases must lapse first. */
function restarted(flights: number, how: 'SIGTERM' | 'kill -9'): Promise<Row> {
  return on(flights, async (fleet) => {
    const only = await fleet.start();
    await fleet.ask(RUN_SECONDS);
    if (how === 'SIGTERM') await only.stop();
    const goneMs = performance.now();
    if (how === 'kill -9') await only.kill();
    const next = await fleet.start();
    const readyMs = performance.now() - goneMs;
    const times = await takenUp([next], { message: 'run adopted', runs: flights, sinceMs: goneMs });
    const judgement = await fleet.finish();
    const last = lastOf(times, flights);
    return {
      name: `recovery: ${how} of the only replica and a new one at once, ${flights} runs in flight`,
      figures: {
        'from the end of the one to adoption': spanText(times),
        'the next was ready after': ms(readyMs),
        'in the end': toldText(judgement),
      },
      targets: [
        how === 'SIGTERM'
          ? { text: `all adopted ≤ ${ms(RESTARTED_LIMIT_MS)} after ready`, met: last - readyMs <= RESTARTED_LIMIT_MS }
          : { text: `all adopted ≤ ${ms(ADOPTED_LIMIT_MS)} after the kill`, met: last <= ADOPTED_LIMIT_MS },
        onceEach(judgement),
      ],
    };
  });
}

/** The worst of it: nobody is left who could give back what Redis had. */
function emptied(flights: number): Promise<Row> {
  return on(flights, async (fleet) => {
    const only = await fleet.start();
    await fleet.ask(RUN_SECONDS);
    await only.kill();
    await fleet.redis.empty();
    const next = await fleet.start();
    const sinceMs = performance.now() - next.readyMs;
    const message = 'found a run in the cluster that the store had lost';
    const times = await takenUp([next], { message, runs: flights, sinceMs });
    const judgement = await fleet.finish();
    return {
      name: `recovery: Redis emptied and the only replica killed, ${flights} runs in flight`,
      figures: {
        "from the new one's start to the runs found in the cluster": spanText(times),
        'in the end': toldText(judgement),
      },
      targets: [
        { text: `all found ≤ ${ms(EMPTIED_LIMIT_MS)}`, met: atMost(lastOf(times, flights), EMPTIED_LIMIT_MS) },
        onceEach(judgement),
      ],
    };
  });
}

function left(drained: number): Promise<Row> {
  return on(drained, async (fleet) => {
    const going = await fleet.start();
    await fleet.ask(RUN_SECONDS);
    const staying = await fleet.start();
    const sinceMs = performance.now();
    const code = await going.stop();
    const exitMs = performance.now() - sinceMs;
    const message = 'run adopted';
    const times = await takenUp([staying], { message, runs: drained, sinceMs });
    const judgement = await fleet.finish();
    return {
      name: `drain: SIGTERM with ${drained} runs in flight, another replica runs`,
      figures: {
        'exit code': String(code),
        'from SIGTERM to the exit': ms(exitMs),
        'from SIGTERM to adoption': spanText(times),
        'in the end': toldText(judgement),
      },
      targets: [
        { text: `gone ≤ ${ms(EXIT_LIMIT_MS)}, exit code 0`, met: code === 0 && exitMs <= EXIT_LIMIT_MS },
        onceEach(judgement),
      ],
    };
  });
}
