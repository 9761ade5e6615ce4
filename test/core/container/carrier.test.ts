import { expect, it } from 'vitest';
import { buildEphemeralContainer, containerName, stopContainerName } from '../../../src/core/container/build.ts';
import { buildCarrier, carrierName, tracerWords } from '../../../src/core/container/carrier.ts';
import { asRunId } from '../../../src/core/ids.ts';
import { defined } from '../../../src/lib/object.ts';
import { aPlan, aSecondRun, START_MS } from '../../support/builders.ts';

const RUN = asRunId('abcdefghij');
const CARRIER = { image: 'registry.example.com/blackbox:1', volume: 'tmp', endsAfterMs: 1_500 };
const PLAN = { podUid: 'uid-1', requesterId: 'U0ROY' };

it('has a name that only its run and its pod decide on, and no other container has', () => {
  const name = carrierName(RUN, 'uid-1');
  expect(name).toMatch(/^kdebug-[a-z2-7]{12}$/);
  expect(carrierName(RUN, 'uid-1')).toBe(name);
  const others = [containerName(RUN, 'uid-1'), stopContainerName(RUN, 'uid-1', 1), carrierName(RUN, 'uid-2')];
  expect(others).not.toContain(name);
});

it('copies the tracer to where the second run starts it from', () => {
  const container = buildCarrier(PLAN, CARRIER, { runId: RUN, containerName: 'kdebug-second', notAfterMs: START_MS });
  expect(container).toEqual({
    name: carrierName(RUN, 'uid-1'),
    image: CARRIER.image,
    args: ['carry', '/.kdebug/kdebug-second'],
    env: [
      { name: 'KDEBUG_CARRIES', value: RUN },
      { name: 'KDEBUG_REQUESTER', value: 'U0ROY' },
      { name: 'KDEBUG_NOT_AFTER', value: new Date(START_MS).toISOString() },
    ],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/.kdebug' }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  });
  expect(tracerWords('kdebug-second', CARRIER)).toEqual(['/.kdebug/kdebug-second', 'once-more', '--for=2s', '--']);
});

it('tells the tracer the limit of memory that the program has in its own container', () => {
  const mark = { runId: RUN, approverIds: [], notAfterMs: START_MS, ref: 'ref' };
  const envOf = (memoryLimit?: number) =>
    buildEphemeralContainer(
      aPlan({ onceMore: aSecondRun({ carrier: { ...CARRIER, ...defined({ memoryLimit }) } }) }),
      mark,
    ).env;
  expect(envOf(67_108_864)).toContainEqual({ name: 'KDEBUG_MEMORY_LIMIT', value: '67108864' });
  expect(envOf().map(({ name }) => name)).not.toContain('KDEBUG_MEMORY_LIMIT');
});

it.each([
  [10_001, 10_001],
  [0, 65_532],
  [undefined, 65_532],
])('runs as the user of the program, but never as root: %s', (user, uid) => {
  const onceMore = aSecondRun(defined({ user }));
  const mark = { runId: RUN, containerName: 'kdebug-second', notAfterMs: START_MS };
  const { securityContext } = buildCarrier({ ...PLAN, onceMore }, CARRIER, mark);
  expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: uid, runAsGroup: 65_532 });
});
