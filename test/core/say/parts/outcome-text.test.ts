import { expect, it } from 'vitest';
import type { Outcome } from '../../../../src/core/outcome.ts';
import { tripwireEnv } from '../../../../src/core/request/tripwire.ts';
import { describeEnd, describeOutcome, happenedSpans } from '../../../../src/core/say/parts/outcome-text.ts';
import { aRequest, aRun } from '../../../support/builders.ts';

const ALL: { readonly [Kind in Outcome['kind']]: Extract<Outcome, { kind: Kind }> } = {
  succeeded: { kind: 'succeeded' },
  answered: { kind: 'answered' },
  failed: { kind: 'failed', exitCode: 3, reason: 'Error' },
  'oom-killed': { kind: 'oom-killed', exitCode: 137 },
  'start-failed': { kind: 'start-failed', reason: 'ImagePullBackOff', message: 'Back-off pulling image "nope:1"' },
  'no-status': { kind: 'no-status' },
  'timed-out': { kind: 'timed-out' },
  stopped: { kind: 'stopped', by: 'U0ROY' },
  'target-ended': { kind: 'target-ended', exitCode: 137 },
  'pod-gone': { kind: 'pod-gone' },
  'pod-replaced': { kind: 'pod-replaced' },
  'node-lost': { kind: 'node-lost' },
  refused: { kind: 'refused', by: 'pod-security', message: 'violates PodSecurity' },
  denied: { kind: 'denied', code: 'channel_unknown' },
  rejected: { kind: 'rejected', by: 'Bob' },
  expired: { kind: 'expired' },
  cancelled: { kind: 'cancelled', by: 'Roy' },
  internal: { kind: 'internal', code: 'cluster_unreachable' },
};

it.each(Object.values(ALL))(
  '$kind has a title, a sentence on what happened and one on what to do, if there is anything to do',
  (outcome) => {
    const words = describeOutcome(outcome);
    expect(words.title).not.toBe('');
    expect(words.happened).not.toBe('');
    expect(words.next).toMatch(outcome.kind === 'succeeded' || outcome.kind === 'stopped' ? /^$/ : /\.$/);
    expect(words.next.length).toBeLessThan(120);
  },
);

it('the cluster’s and the kubelet’s own words are told', () => {
  expect(describeOutcome(ALL['start-failed']).happened).toContain('nope:1');
  expect(describeOutcome(ALL.refused).happened).toContain('violates PodSecurity');
});

it('what kdebug’s own container did is not told as if the pod had done it', () => {
  for (const outcome of [ALL.failed, ALL['oom-killed'], ALL['start-failed']])
    expect(describeOutcome(outcome).title).toMatch(/^(?:The run|kdebug’s container) /);
});

it('a pod that wants a non-root user is named only where the kubelet says so', () => {
  const failed = (message: string, reason = 'CreateContainerConfigError') =>
    describeOutcome({ kind: 'start-failed', reason, message });
  expect(failed('container has runAsNonRoot and image will run as root').next).toContain('non-root user');
  expect(failed("container's runAsUser breaks non-root policy").next).toContain('non-root user');
  expect(failed('secret "db" not found').next).not.toContain('non-root');
  expect(failed('secret "db" not found (container: nonroot)').next).not.toContain('non-root user');
  const pull = 'Back-off pulling image "gcr.example.com/distroless/base:nonroot"';
  expect(failed(pull, 'ImagePullBackOff').next).toContain('the image name and tag');
});

it('an image that was not pulled is told with the reason of its registry, whatever it is named', () => {
  const title = (message: string, reason = 'ErrImagePull') =>
    describeOutcome({ kind: 'start-failed', reason, message }).title;
  const pulling = 'failed to pull and unpack image "registry.example.com/denied/x509:404"';
  expect(title(`${pulling}: dial tcp 10.0.0.9:443: connect: connection refused`)).toBe(
    'kdebug’s container did not start: its image cannot be pulled: its registry does not answer',
  );
  expect(title(`Back-off: ${pulling}: not found`, 'ImagePullBackOff')).toBe(
    'kdebug’s container did not start: its image does not exist: there is no such name or tag',
  );
  const reset = 'read tcp 10.237.1.2:40138->52.38.1.1:443: read: connection reset by peer';
  const full = 'sha256:ab401cfe: no space left on device';
  for (const [message, why] of [
    [reset, 'its registry does not answer'],
    ['read tcp 10.237.1.2:401->52.38.1.1:443: read: connection reset by peer', 'its registry does not answer'],
    [full, 'the disk of the node is full'],
    ['unexpected status: 401 Unauthorized', 'the registry wants a login'],
  ] as const)
    expect(title(`${pulling}: ${message}`)).toContain(why);
  expect(title(`Back-off: ${pulling}`, 'ImagePullBackOff')).toBe('kdebug’s container did not start: ImagePullBackOff');
  expect(title('the signature has no certificate', 'SignatureValidationFailed')).toContain('SignatureValidationFailed');
});

it('a target that came up meanwhile is told in words, with its own next step, and that an earlier try may still arrive', () => {
  const message = 'that container runs now, so it needs no second run: app';
  const { title, happened, next } = describeOutcome({ kind: 'start-failed', reason: 'once_more_running', message });
  expect(title).toBe('kdebug’s container did not start: its target runs now');
  expect(happened).toContain('That container runs now, so it needs no second run: app.');
  expect(happened).toContain('if the container still starts later');
  expect(next).toContain('--image=blackbox');
});

it('a second run whose first try may still arrive is never told that nothing was started', () => {
  const late = describeOutcome({ kind: 'start-failed', reason: 'request_too_old', message: 'too late' });
  expect(`${late.title} ${late.happened} ${late.next}`).not.toContain('Nothing was started');
});

it('a container’s id of 64 digits is told by its beginning', () => {
  const id = 'a1b2'.repeat(16);
  const { happened } = describeOutcome({ kind: 'start-failed', reason: 'StartError', message: `container ${id} died` });
  expect(happened).toContain('a1b2a1b2a1b2… died');
});

it('whoever decided is a mention; nothing that a cluster says is one', () => {
  expect(happenedSpans({ kind: 'rejected', by: 'U0BOB' })).toEqual([
    { kind: 'person', userId: 'U0BOB' },
    { kind: 'text', text: ' rejected it.' },
  ]);
  expect(happenedSpans({ kind: 'cancelled', by: 'U0ROY' })[0]).toEqual({ kind: 'person', userId: 'U0ROY' });
  expect(happenedSpans({ kind: 'refused', by: 'webhook', message: 'ask U0BOB' })).toEqual([
    { kind: 'text', text: 'ask U0BOB' },
  ]);
});

it('advises whoever armed a watch that did not end by itself to arm it again: a watch has no --timeout', () => {
  const env = tripwireEnv({ when: 'memory>92%', forMs: 3_600_000 });
  const watch = aRun({ request: aRequest({ image: 'blackbox', env }) });
  expect(describeEnd({ kind: 'timed-out' }, watch).next).toContain('Arm it again.');
  expect(describeEnd({ kind: 'timed-out' }, watch).next).not.toContain('--timeout');
  expect(describeEnd({ kind: 'timed-out' }, aRun()).next).toContain('--timeout');
  expect(describeEnd({ kind: 'no-status' }, watch)).toEqual(describeOutcome({ kind: 'no-status' }));
});
