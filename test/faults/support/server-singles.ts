import type { LocalCluster } from '../../../play/cluster/index.ts';
import { sampleOf } from '../../support/sample.ts';
import type { CrashPoint } from './effects.ts';
import { grouped } from './enumerate.ts';
import { type ServerStory, tellOnServers } from './server-stories.ts';

/** Histories that are told at a time: most of each is waiting. */
const AT_ONCE = 8;
/** Real time decides which of two concurrent effects comes first; a point that was missed is tried again. */
const TRIES = 3;

export interface ServerFindings {
  readonly points: number;
  readonly held: number;
  readonly lost: number;
  readonly duplicates: number;
  readonly broken: readonly string[];
}

/** A story on the real servers with every crash of its first replica, one at a time. */
export async function serverSingles(cluster: LocalCluster, story: ServerStory): Promise<ServerFindings> {
  const { scene } = await tellOnServers(cluster, story, []);
  const groups = sampleOf(`crashes in ${story.name} on the servers`, grouped(scene.effects.marks(0)), 4);
  const total = { points: groups.flat().length, held: 0, lost: 0, duplicates: 0, broken: [] as string[] };
  const waiting = [...groups];
  const work = async (): Promise<void> => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      const [point] = group;
      const found = await tryPoint(cluster, story, point);
      total.held += found.broken.length === 0 ? group.length : 0;
      total.lost += found.lost;
      total.duplicates += found.duplicates;
      const where = `${story.name} on the servers, crash ${point.when} ${point.effect}`;
      total.broken.push(...found.broken.map((what) => `${where}: ${what}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return total;
}

interface Found {
  readonly lost: number;
  readonly duplicates: number;
  readonly broken: readonly string[];
}

async function tryPoint(cluster: LocalCluster, story: ServerStory, point: CrashPoint): Promise<Found> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { scene, tally } = await tellOnServers(cluster, story, [point]);
      if (scene.effects.hits === 1 || tally.broken.length > 0) return tally;
      if (tries === TRIES) return { lost: 0, duplicates: 0, broken: ['the crash point was not reached'] };
    } catch (error) {
      return { lost: 1, duplicates: 0, broken: [String(error)] };
    }
  }
}
