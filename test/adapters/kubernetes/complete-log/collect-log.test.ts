import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../../../src/core/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { LogScene, SCENE_TIMES } from '../support/log-scene.ts';

const COMPLETE = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };
const WAITING = new KdebugError('cluster_failed', { facts: { status: 400 } });
const NOT_FOUND = new KdebugError('pod_not_found', { facts: { status: 404 } });

function fill(scene: LogScene, lines: number, from = 1): void {
  for (let line = from; line < from + lines; line += 1) scene.kubelet.write(`${line} some text`);
}

describe('a short log', () => {
  it('of a container that has ended is one plain read', async () => {
    const scene = new LogScene({ request: { terminated: true } });
    fill(scene, 100);
    await scene.end(0);

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
    expect(scene.kubelet.requests).toBe(1);
  });

  it('of a running container is one follow when both end together', async () => {
    const scene = new LogScene();
    fill(scene, 50);
    await scene.pass(2_000);
    fill(scene, 50, 51);
    await scene.end(400);

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
    expect(scene.kubelet.requests).toBe(1);
  });

  it('is there while the container still runs', async () => {
    const scene = new LogScene();
    await scene.pass(1_000);
    scene.kubelet.write('now');
    await scene.pass(100);

    expect(scene.content).toBe('now\n');
    scene.abort.abort();
  });

  it('with nothing in it is complete', async () => {
    const scene = new LogScene();
    await scene.pass(1_000);
    await scene.end();

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe('');
  });

  it('is waited for until the kubelet has it', async () => {
    const scene = new LogScene({ before: (kubelet) => kubelet.refusals.push(WAITING, NOT_FOUND, WAITING) });
    fill(scene, 10);
    await scene.pass(3_000);
    await scene.end();

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
  });

  it('is read once more when the status comes long after the end of the follow', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(500);
    await scene.end(8_000, 1e9);

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
    expect(scene.kubelet.requests).toBeGreaterThan(1);
  });

  it('is read to its end when the status comes before the last lines', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.end(0);
    await scene.pass(200, 100);
    expect(await scene.finish(2_000)).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
  });

  it('whose follow never ends is ended by the final read', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(500);
    scene.kubelet.isDeaf = true;
    fill(scene, 5, 11);
    await scene.end();

    expect(await scene.finish()).toMatchObject({ complete: true });
    expect(scene.content).toBe(scene.truth);
  });
});

describe('a log that cannot be read to its end', () => {
  it('because the pod is gone ends with that code, and with what was read', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(500);
    scene.kubelet.refusals.push(...Array.from({ length: 20 }, () => NOT_FOUND));
    scene.kubelet.breakAll();
    await scene.end();

    expect(await scene.finish()).toMatchObject({ complete: false, interruptedBy: 'pod_not_found' });
    expect(scene.content).toBe(scene.truth);
  });

  it('because there is none ends with that code', async () => {
    const refusals = Array.from({ length: 20 }, () => WAITING);
    const scene = new LogScene({
      request: { terminated: true },
      before: (kubelet) => kubelet.refusals.push(...refusals),
    });
    await scene.end(0);

    expect(await scene.finish()).toMatchObject({ complete: false, interruptedBy: 'log_unavailable' });
  });

  it('because nobody wants it any more ends at once', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(500);
    scene.abort.abort();

    expect(await scene.result).toMatchObject({ complete: false, interruptedBy: 'aborted' });
    expect(scene.kubelet.openReaders).toBe(0);
  });
});

describe('a node that writes its own error behind the log', () => {
  const WORDS = [
    'failed to create fsnotify watcher: too many open files',
    'failed to watch directory "/var/log/pods/shop_web_u1/kdebug-a": no space left on device',
    'context cancelled',
  ];

  it.each(WORDS)('is asked again and again, more and more rarely, and %j is no output', async (words) => {
    const scene = new LogScene({ before: (kubelet) => Object.assign(kubelet, { watchError: words }) });
    fill(scene, 1);
    await scene.pass(60_000);
    expect(scene.content).toBe(scene.truth);
    expect(scene.kubelet.requests).toBeLessThan(25);

    fill(scene, 2, 2);
    await scene.pass(6_000);
    expect(scene.content).toBe(scene.truth);
    await scene.end();
    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
  });

  it('and cannot be read again after the end, has a log that was not read to its end', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(500);
    scene.kubelet.onlySays = 'unable to retrieve container logs for containerd://8cdfe489333df0';
    scene.kubelet.cutAll();
    await scene.end(5_000);

    expect(await scene.finish()).toMatchObject({ complete: false, interruptedBy: 'log_unavailable' });
    expect(scene.content).toBe(scene.truth);
  });

  it('and nothing else has no log', async () => {
    const onlySays = 'unable to retrieve container logs for containerd://8cdfe489333df0';
    const scene = new LogScene({
      request: { terminated: true },
      before: (kubelet) => Object.assign(kubelet, { onlySays }),
    });
    await scene.end(0);

    expect(await scene.finish()).toMatchObject({ complete: false, interruptedBy: 'log_unavailable' });
    expect(scene.content).toBe('');
  });
});

it('a log without stamps, as a virtual kubelet may give it, is delivered to its last word', async () => {
  const text = `failed by two\nfailed to compile${'.'.repeat(300)}`;
  const scene = new LogScene({
    request: { terminated: true },
    before: (kubelet) => Object.assign(kubelet, { onlySays: text }),
  });
  await scene.end(0);

  expect(await scene.finish()).toEqual(COMPLETE);
  expect(scene.content).toBe(text);
});

describe('the limit', () => {
  it.each([0, 1, 11, 12, 13, 500])('of %i bytes is kept to the byte', async (limitBytes) => {
    const scene = new LogScene({ request: { limitBytes } });
    fill(scene, 100);

    expect(await scene.finish()).toMatchObject({ complete: false, limitReached: true });
    expect(scene.content).toBe(scene.truth.slice(0, limitBytes));
  });

  it('that is as long as the log is not reached', async () => {
    const scene = new LogScene({ request: { limitBytes: 24 } });
    fill(scene, 2);
    await scene.pass(100);
    await scene.end();

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
  });
});

describe('what is not proven', () => {
  it('is the beginning of a large log that was opened late', async () => {
    const scene = new LogScene({ request: { startedAtMs: 0 } });
    fill(scene, 3_000);
    await scene.pass(500);
    await scene.end();

    expect(await scene.finish()).toMatchObject({ complete: false, beginningMayBeMissing: true });
  });

  it('is a step of 7 s in the stamps of a log that may have been rotated', async () => {
    const scene = new LogScene();
    fill(scene, 3_000);
    await scene.pass(9_000);
    fill(scene, 1, 3_001);
    await scene.end();

    const { complete, gaps } = await scene.finish();
    expect(complete).toBe(false);
    expect(gaps).toHaveLength(1);
    expect(scene.truth.slice(gaps[0]!.atByte)).toBe('3001 some text\n');
  });

  it('is no step in a log that is too small for that', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(30_000);
    fill(scene, 1, 11);
    await scene.end();

    expect(await scene.finish()).toEqual(COMPLETE);
  });
});

describe('a silent log', () => {
  it('gets a new connection after a minute, because the old one may be half-open', async () => {
    const scene = new LogScene();
    fill(scene, 10);
    await scene.pass(1_000);
    scene.kubelet.isDeaf = true;
    await scene.pass(50_000);
    expect(scene.kubelet.requests).toBe(1);
    await scene.pass(15_000);
    scene.kubelet.isDeaf = false;
    fill(scene, 10, 11);
    await scene.pass(5_000);

    expect(scene.content).toBe(scene.truth);
    await scene.end();
    expect(await scene.finish()).toMatchObject({ gaps: [] });
  });

  it('costs a large log one look, not one every few seconds', async () => {
    const scene = new LogScene();
    fill(scene, 3_000);
    await scene.pass(40_000);

    expect(scene.kubelet.requests).toBe(2);
    scene.abort.abort();
  });
});

it('lines that are equal, or have the same stamp, are all there after a break', async () => {
  const scene = new LogScene();
  const atMs = scene.clock.now();
  for (let line = 0; line < 20; line += 1) scene.kubelet.write('the same', atMs);
  scene.kubelet.stampsRepeat = true;
  for (let line = 0; line < 20; line += 1) scene.kubelet.write(`${line}`, atMs + 1);
  for (let times = 0; times < 3; times += 1) scene.kubelet.write('twins', atMs + 2);
  await scene.pass(50, 12_000);
  scene.kubelet.breakAll();
  await scene.pass(2_000);
  await scene.end();

  expect(await scene.finish()).toEqual(COMPLETE);
  expect(scene.content).toBe(scene.truth);
});

it('what a sink throws comes through, and every reading is closed', async () => {
  const { collectLog } = await import('../../../../src/adapters/kubernetes/complete-log/collect-log.ts');
  const scene = new LogScene();
  scene.abort.abort();
  await scene.result;
  fill(scene, 10);
  const tools = { client: scene.kubelet, clock: scene.clock, random: () => 0, times: SCENE_TIMES };
  const request = {
    pod: { namespace: 'shop', name: 'web', uid: 'u' },
    containerName: 'a',
    terminated: false,
    startedAtMs: 0,
    limitBytes: 1e9,
    ended: new Promise<void>(() => {}),
    signal: new AbortController().signal,
  };
  const collected = collectLog(tools, request, { write: () => Promise.reject(new KdebugError('spool_full')) });
  collected.catch(() => {});
  await scene.clock.advance(100);
  scene.kubelet.serve(1e6);

  await expect(collected).rejects.toMatchObject({ code: 'spool_full' });
  expect(scene.kubelet.openReaders).toBe(0);
});

describe('the time since which lines are wanted', () => {
  it('is reported once, before the first line of that time, with all lines before it', async () => {
    const scene = new LogScene({ request: { sinceMs: new FakeClock().now() + 10_000 } });
    fill(scene, 30);
    await scene.pass(11_000);
    const before = scene.truth;
    fill(scene, 20, 31);
    await scene.pass(1_000);
    fill(scene, 20, 51);
    await scene.end(400);

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
    expect(scene.beforeSince).toEqual([before]);
  });

  it('is not reported when no line is of that time', async () => {
    const scene = new LogScene({ request: { terminated: true, sinceMs: new FakeClock().now() + 10_000 } });
    fill(scene, 30);
    await scene.end(0);

    expect(await scene.finish()).toEqual(COMPLETE);
    expect(scene.content).toBe(scene.truth);
    expect(scene.beforeSince).toEqual([]);
  });
});
