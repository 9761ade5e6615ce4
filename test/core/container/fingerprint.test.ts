import { describe, expect, it } from 'vitest';
import { buildEphemeralContainer } from '../../../src/core/container/build.ts';
import { doesAsSent, fingerprintOf } from '../../../src/core/container/fingerprint.ts';
import { securityContextOf } from '../../../src/core/container/profiles.ts';
import { asRunId } from '../../../src/core/ids.ts';
import { aPlan, START_MS } from '../../support/builders.ts';

const mark = { runId: asRunId('aaaaaaaaaa'), approverIds: ['U0BOB'], notAfterMs: START_MS, ref: 'one' };
const securityContext = securityContextOf('restricted', { uid: 65532, gid: 0 })!;
const env = [
  { name: 'A', value: 'b' },
  { name: 'EMPTY', value: '' },
];
const sent = buildEphemeralContainer(aPlan({ command: ['sh', '-c', 'echo $x'], env, securityContext }), mark);

/** What a Kubernetes 1.34 answers with: defaults filled in, an empty value left out. */
const held = {
  ...sent,
  env: sent.env.map(({ name, value }) => (value === '' ? { name } : { name, value })),
  imagePullPolicy: 'IfNotPresent',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  securityContext: { ...sent.securityContext, procMount: 'Default' },
};
const more = (variable: object) => ({ ...held, env: [...held.env, variable] });
const context = (parts: object) => ({ ...held, securityContext: { ...held.securityContext, ...parts } });

const DIFFERENT: readonly (readonly [string, object])[] = [
  ['another image', { ...held, image: 'mirror.example.com/debian:12' }],
  ['other words', { ...held, command: ['sh', '-c', 'rm -rf /data'] }],
  ['a word less', { ...held, command: ['sh', '-c'] }],
  ['arguments besides', { ...held, args: ['x'] }],
  ['another target', { ...held, targetContainerName: 'db' }],
  ['no target', { ...held, targetContainerName: undefined }],
  ['another value', { ...held, env: held.env.map((one) => (one.name === 'A' ? { name: 'A', value: 'c' } : one)) }],
  ['a variable less', { ...held, env: held.env.filter(({ name }) => name !== 'A') }],
  ['a second value that wins', more({ name: 'A', value: 'c' })],
  ['a value from a secret', more({ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } })],
  ['privilege', context({ privileged: true })],
  ['a capability', context({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })],
  ['capabilities that stay', context({ capabilities: {} })],
  ['another user', context({ runAsUser: 0 })],
  ['no user', context({ runAsUser: undefined })],
  ['escalation', context({ allowPrivilegeEscalation: true })],
  ['an unmasked /proc', context({ procMount: 'Unmasked' })],
  ['no security context', { ...held, securityContext: undefined }],
];

describe('what an API server holds', () => {
  it('does what was sent, with the defaults of the server', () => {
    expect(doesAsSent(sent, held)).toBe(true);
    expect(fingerprintOf(held)).toBe(fingerprintOf(sent));
  });

  it('is the same whatever marks its run', () => {
    const other = { ...mark, ref: 'two', notAfterMs: 0, approverIds: [] };
    const again = buildEphemeralContainer(aPlan({ command: ['sh', '-c', 'echo $x'], env, securityContext }), other);
    expect(doesAsSent(again, held)).toBe(true);
    expect(fingerprintOf(again)).toBe(fingerprintOf(held));
  });

  it.each(DIFFERENT)('with %s does something else', (_, container) => {
    expect(doesAsSent(sent, container)).toBe(false);
    expect(fingerprintOf(container)).not.toBe(fingerprintOf(sent));
  });

  it('of another run is not ours', () => {
    const foreign = { ...held, env: held.env.map((one) => (one.name === 'KDEBUG_RUN' ? { ...one, value: 'x' } : one)) };
    expect(doesAsSent(sent, foreign)).toBe(false);
    expect(doesAsSent(sent, { ...held, env: held.env.filter(({ name }) => name !== 'KDEBUG_RUN') })).toBe(false);
  });

  it.each([
    ['a variable', more({ name: 'PROXY', value: 'http://proxy' })],
    ['a read-only root', context({ readOnlyRootFilesystem: true })],
    ['one more capability dropped', context({ capabilities: { drop: ['ALL', 'NET_RAW'] } })],
  ])('may have %s of a webhook', (_, container) => {
    expect(doesAsSent(sent, container)).toBe(true);
  });

  it('may be given a security context that only takes power away, and no other', () => {
    const plain = buildEphemeralContainer(aPlan(), mark);
    const with_ = (given: object) => doesAsSent(plain, { ...plain, securityContext: given });
    expect(
      with_({ privileged: false, allowPrivilegeEscalation: false, seccompProfile: { type: 'RuntimeDefault' } }),
    ).toBe(true);
    expect(with_({ privileged: true })).toBe(false);
    expect(with_({ runAsUser: 0 })).toBe(false);
    expect(with_({ seccompProfile: { type: 'Unconfined' } })).toBe(false);
    expect(with_({ capabilities: { add: ['SYS_PTRACE'] } })).toBe(false);
  });

  it('is nothing of ours when it is no container at all', () => {
    expect(doesAsSent(sent, [])).toBe(false);
    expect(doesAsSent(sent, { env: 'x', securityContext: null })).toBe(false);
  });
});
