import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFull } from '../../../../test/support/sample.ts';
import { type LocalCluster, startLocalCluster } from '../../../cluster/index.ts';
import { NODE } from '../../../cluster/local-cluster.ts';
import { type Difference, differencesOf, told } from './compare.ts';
import { ALLOWED, isAllowed } from './differences.ts';
import { isObject, type Json } from './json.ts';
import { type Answers, playAll } from './play.ts';
import { readRecording } from './recording.ts';
import { SCENARIOS } from './scenarios/all.ts';
import { kubectlVersion, Target } from './target.ts';

const RECORDING = new URL('answers.ndjson', import.meta.url);
const { recorded, answers } = readRecording(RECORDING);

/** Whose words were seen to be the same, but for what the rules of normalise.ts name. */
const TRIED = ['v1.32', 'v1.33', 'v1.34'];
const isSkipped = !isFull || !TRIED.includes(kubectlVersion ?? '');
if (isFull && isSkipped) {
  const why =
    kubectlVersion === undefined ? 'there is no kubectl here' : `nobody compared kubectl ${kubectlVersion} yet`;
  console.warn(`skipped: the local cluster against recorded answers of kubectl ${recorded.kubectl}, because ${why}`);
}

it('the recording is small and names neither machines nor registries', () => {
  const text = readFileSync(RECORDING, 'utf8');
  expect(text.length).toBeLessThan(200_000);
  expect(text).not.toMatch(/\/(root|home|work|run|tmp|Users)\//);
  const hosts = [...text.matchAll(/\b((?:[a-z0-9-]+\.)+(?:io|com|org|net)|localhost)(?::\d+)?\/[a-z]/g)].map(
    ([, host]) => host,
  );
  expect([...new Set(hosts)].filter((host) => !/(^|\.)(k8s|kubernetes)\.io$/.test(host ?? ''))).toEqual([
    'localhost',
    'registry.example.com',
  ]);
});

/**
 * Without the states that a watch may skip, where the other side skipped them: level-triggered, a watch owes nobody what
 * passes while a node is busy.
 */
function lasting(answer: Json | undefined, other: Json | undefined): Json | undefined {
  if (Array.isArray(answer)) {
    const isKept = Array.isArray(other) && other.some(isPassing);
    const kept = isKept ? answer : answer.filter((line) => !isPassing(line));
    return kept.map((line, at) => lasting(line, Array.isArray(other) ? other[at] : undefined) ?? null);
  }
  if (!isObject(answer)) return answer;
  const others = isObject(other) ? other : {};
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, lasting(value, others[key]) ?? null]));
}

const isPassing = (line: Json): boolean =>
  typeof line === 'string' && /^\w+, .*debug=\d.* waiting ContainerCreating$/.test(line);

describe.skipIf(isSkipped)(`the answers of Kubernetes ${recorded.server}, recorded ${recorded.date}`, () => {
  let cluster: LocalCluster;
  let directory: string;
  let target: Target;
  let local: Answers;
  let all: readonly Difference[];

  beforeAll(async () => {
    cluster = await startLocalCluster({ kubeletDelayMs: 100 });
    directory = mkdtempSync(join(tmpdir(), 'kdebug-recorded-'));
    writeFileSync(join(directory, 'config'), cluster.kubeconfig);
    target = new Target(join(directory, 'config'));
    local = await playAll(SCENARIOS, { target, names: { node: NODE }, patienceMs: 30_000 }, SCENARIOS.length);
    all = SCENARIOS.flatMap(({ name }) => {
      const [real, ours] = [answers[name], local[name]];
      return differencesOf(name, lasting(real, ours), lasting(ours, real));
    });
  });

  afterAll(async () => {
    target.close();
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(SCENARIOS.map(({ name }) => name))('are the local cluster’s too: %s', (name) => {
    const found = all.filter((each) => each.path.startsWith(`${name}.`) && !isAllowed(each));
    expect(found.map(told).join('\n')).toBe('');
  });

  it('were asked of nothing that the local cluster does not know', () => {
    const unknown = cluster.requests.unknown().map(({ url }) => url);
    // One scenario asks for it, to see the answer.
    expect(unknown.filter((url) => !url.includes('/pads/'))).toEqual([]);
  });

  it('differ nowhere else than where a reason says so', () => {
    const unused = ALLOWED.filter((allowed) => !all.some(({ path }) => allowed.path.test(path)));
    expect(unused.map(({ why }) => why)).toEqual([]);
  });
});
