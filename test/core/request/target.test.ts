import { describe, expect, it } from 'vitest';
import { problemOfPod, targetContainerOf } from '../../../src/core/request/target.ts';
import { aPod, aStatus, aTermination } from '../../support/builders.ts';

const room = (most: number, mostOfPerson = most) => ({ most, mostOfPerson, requesterId: 'U0ROY' });
const entry = { name: 'debugger-x', image: 'busybox' };

it.each([
  ['a static pod', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }, 'pod_is_static'],
  ['a pod that succeeded', { status: { phase: 'Succeeded' } }, 'pod_finished'],
  ['a pod that failed', { status: { phase: 'Failed' } }, 'pod_finished'],
  ['a pod on its way out', { metadata: { deletionTimestamp: '2026-11-21T00:00:00Z' } }, 'pod_deleting'],
  ['a Windows pod', { spec: { os: 'windows' } }, 'pod_is_windows'],
  ['a pod for Windows nodes', { spec: { nodeSelectorOs: 'windows' } }, 'pod_is_windows'],
] as const)('refuses %s', (_, parts, code) => {
  expect(problemOfPod(aPod(parts), room(3))).toEqual({ code, subject: 'shop/web-1' });
});

it('refuses a pod that is on no node', () => {
  const pod = aPod();
  const { nodeName: _, ...spec } = pod.spec;
  expect(problemOfPod({ ...pod, spec }, room(3))?.code).toBe('pod_unscheduled');
});

it('refuses a pod that is full, with the numbers', () => {
  const pod = aPod({ spec: { ephemeralContainers: [entry, entry, entry] } });
  const subject = 'shop/web-1 (3 of 3)';
  expect(problemOfPod(pod, room(3))).toEqual({ code: 'pod_has_too_many_containers', subject });
});

it('takes an ordinary pod, with room left', () => {
  expect(problemOfPod(aPod({ spec: { ephemeralContainers: [entry, entry] } }), room(3))).toBeUndefined();
});

it('refuses a pod in which the person has had their share, and nobody else', () => {
  const theirs = { ...entry, requesterId: 'U0ROY' };
  const pod = aPod({ spec: { ephemeralContainers: [theirs, entry, theirs] } });
  expect(problemOfPod(pod, room(10, 2))).toEqual({ code: 'pod_has_too_many_of_yours', subject: 'shop/web-1 (2 of 2)' });
  expect(problemOfPod(pod, room(10, 3))).toBeUndefined();
  expect(problemOfPod(pod, { ...room(10, 2), requesterId: 'U0GINGER' })).toBeUndefined();
});

describe('targetContainerOf', () => {
  const two = [
    { name: 'web', image: 'w', securityContext: {} },
    { name: 'proxy', image: 'p', securityContext: {} },
  ];
  const nameOf = (pod: ReturnType<typeof aPod>, asked?: Parameters<typeof targetContainerOf>[1]) => {
    const target = targetContainerOf(pod, asked);
    return target.kind === 'container' ? target.container.name : target;
  };

  it('takes the first container when nothing was said', () => {
    expect(nameOf(aPod({ spec: { containers: two } }))).toBe('web');
  });

  it('takes the annotated default container, unless it does not exist', () => {
    const annotated = (name: string) =>
      aPod({
        metadata: { annotations: { 'kubectl.kubernetes.io/default-container': name } },
        spec: { containers: two },
      });
    expect(nameOf(annotated('proxy'))).toBe('proxy');
    expect(nameOf(annotated('gone'))).toBe('web');
  });

  it('takes the one that was named, and none when asked for none', () => {
    expect(nameOf(aPod({ spec: { containers: two } }), { kind: 'named', name: 'proxy' })).toBe('proxy');
    expect(targetContainerOf(aPod(), { kind: 'none' })).toEqual({ kind: 'none' });
  });

  it('lists the containers when there is none of that name, and notices the name of the pod', () => {
    const target = targetContainerOf(aPod({ spec: { containers: two } }), { kind: 'named', name: 'web-1' });
    expect(target).toEqual({
      kind: 'problem',
      problem: {
        code: 'target_container_not_found',
        subject: 'web-1 (that is the name of the pod; its containers: web, proxy)',
      },
    });
  });

  it('refuses an init container that has ended, but takes a sidecar', () => {
    const pod = (restartPolicy?: string) =>
      aPod({
        spec: {
          initContainers: [{ name: 'init', image: 'i', securityContext: {}, ...(restartPolicy && { restartPolicy }) }],
        },
        status: { initContainerStatuses: [aStatus({ name: 'init', terminated: aTermination() })] },
      });
    const asked = { kind: 'named', name: 'init' } as const;
    expect(targetContainerOf(pod(), asked)).toMatchObject({
      kind: 'problem',
      problem: { code: 'target_container_ended' },
    });
    expect(targetContainerOf(pod('Always'), asked).kind).toBe('container');
  });
});
