import type { Container, PodSpec } from '../objects/pod.ts';
import { type Check, named, plural, quoted, sortedSet } from './pod-security-words.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];

const namespaces: Check = (spec) => {
  const details = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((each) => spec[each] === true);
  if (details.length === 0) return undefined;
  return { title: 'host namespaces', details: [details.map((each) => `${each}=true`).join(', ')] };
};

const paths: Check = ({ volumes = [] }) => {
  const bad = volumes.filter((each) => 'hostPath' in each);
  return bad.length === 0 ? undefined : { title: 'hostPath volumes', details: [namedVolumes(bad)] };
};

const hostPorts = ({ ports = [] }: Container) =>
  ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [hostPort]));

const ports: Check = (_spec, containers) => {
  const bad = containers.filter((each) => hostPorts(each).length > 0);
  if (bad.length === 0) return undefined;
  const numbers = sortedSet(bad.flatMap(hostPorts).map(String));
  const use = bad.length > 1 ? 'use' : 'uses';
  const detail = `${named(bad)} ${use} ${plural('hostPort', numbers.length)} ${numbers.join(', ')}`;
  return { title: 'hostPort', details: [detail] };
};

/** The checks of what a pod takes from its node. */
export const HOST_CHECKS = { namespaces, paths, ports } as const;

const VOLUME_TYPES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

const namedVolumes = (volumes: readonly Volume[]) =>
  `${plural('volume', volumes.length)} ${quoted(volumes.map(({ name }) => name))}`;

/** *restricted* names the volume types that are fine; it takes the place of *baseline*'s host paths. */
export const restrictedVolumes: Check = ({ volumes = [] }) => {
  const bad = volumes.filter((each) => !VOLUME_TYPES.some((type) => type in each));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map((each) => Object.keys(each).find((key) => key !== 'name') ?? 'unknown'));
  const use = bad.length > 1 ? 'use' : 'uses';
  const detail = `${namedVolumes(bad)} ${use} ${plural('restricted volume type', types.length)} ${quoted(types)}`;
  return { title: 'restricted volume types', details: [detail] };
};
