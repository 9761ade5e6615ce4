import type { Container, PodSpec, SecurityContext } from '../objects/pod.ts';
import { HOST_CHECKS, restrictedVolumes } from './pod-security-host.ts';
import { type Check, named, quoted, sortedSet, violation } from './pod-security-words.ts';

export type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted';

/** Capabilities that *baseline* lets anyone add: the runtime's own default set (Pod Security Standards). */
const BASELINE_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

/**
 * What the Pod Security Standards have against the whole pod, ephemeral containers included, word for word; empty:
 * nothing. Not looked at: SELinux, AppArmor, sysctls, procMount, host probes and Windows.
 */
export function podSecurityViolations(spec: PodSpec, level: PodSecurityLevel): string {
  return violations(spec, level)
    .map(({ title, details }) => `${title} (${details.join('; ')})`)
    .join(', ');
}

/** The same in short: the titles alone. */
export function podSecurityTitles(spec: PodSpec, level: PodSecurityLevel): string {
  return violations(spec, level)
    .map(({ title }) => title)
    .join(', ');
}

function violations(spec: PodSpec, level: PodSecurityLevel) {
  if (level === 'privileged') return [];
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  return (level === 'restricted' ? RESTRICTED : BASELINE).flatMap((check) => check(spec, containers) ?? []);
}

const having = (containers: readonly Container[], test: (context: SecurityContext) => boolean) =>
  containers.filter((each) => test(each.securityContext ?? {}));

/** Those who say something forbidden: the pod itself, containers, or both. */
function setters(spec: PodSpec, containers: readonly Container[], isBad: (context: SecurityContext) => boolean) {
  const bad = having(containers, isBad);
  return [...(isBad(spec.securityContext ?? {}) ? ['pod'] : []), ...(bad.length === 0 ? [] : [named(bad)])].join(
    ' and ',
  );
}

function addedCapabilities(containers: readonly Container[], isFine: (capability: string) => boolean) {
  const bad = (each: Container) =>
    (each.securityContext?.capabilities?.add ?? []).filter((capability) => !isFine(capability));
  const guilty = containers.filter((each) => bad(each).length > 0);
  const capabilities = sortedSet(guilty.flatMap(bad));
  const detail = `${named(guilty)} must not include ${quoted(capabilities)} in securityContext.capabilities.add`;
  return guilty.length === 0 ? [] : [detail];
}

const capabilitiesBaseline: Check = (_spec, containers) => {
  const details = addedCapabilities(containers, (capability) => BASELINE_CAPABILITIES.has(capability));
  return details.length === 0 ? undefined : { title: 'non-default capabilities', details };
};

const privileged: Check = (_spec, containers) =>
  violation(
    'privileged',
    having(containers, (context) => context.privileged === true),
    'must not set securityContext.privileged=true',
  );

const isBadSeccomp = ({ seccompProfile }: SecurityContext) =>
  seccompProfile !== undefined && !['RuntimeDefault', 'Localhost'].includes(seccompProfile.type);

const seccompBaseline: Check = (spec, containers) => {
  const who = setters(spec, containers, isBadSeccomp);
  if (who === '') return undefined;
  const contexts = [spec.securityContext ?? {}, ...containers.map((each) => each.securityContext ?? {})];
  const values = sortedSet(contexts.filter(isBadSeccomp).map((each) => each.seccompProfile?.type ?? ''));
  return {
    title: 'seccompProfile',
    details: [`${who} must not set securityContext.seccompProfile.type to ${quoted(values)}`],
  };
};

const escalation: Check = (_spec, containers) =>
  violation(
    'allowPrivilegeEscalation != false',
    having(containers, (context) => context.allowPrivilegeEscalation !== false),
    'must set securityContext.allowPrivilegeEscalation=false',
  );

const capabilitiesRestricted: Check = (_spec, containers) => {
  const undropped = having(containers, (context) => !(context.capabilities?.drop ?? []).includes('ALL'));
  const drop = undropped.length === 0 ? [] : [`${named(undropped)} must set securityContext.capabilities.drop=["ALL"]`];
  const details = [...drop, ...addedCapabilities(containers, (capability) => capability === 'NET_BIND_SERVICE')];
  return details.length === 0 ? undefined : { title: 'unrestricted capabilities', details };
};

const nonRoot: Check = (spec, containers) => {
  const title = 'runAsNonRoot != true';
  const who = setters(spec, containers, (context) => context.runAsNonRoot === false);
  if (who !== '') return { title, details: [`${who} must not set securityContext.runAsNonRoot=false`] };
  if (spec.securityContext?.runAsNonRoot === true) return undefined;
  const unset = having(containers, (context) => context.runAsNonRoot === undefined);
  return unset.length === 0
    ? undefined
    : { title, details: [`pod or ${named(unset)} must set securityContext.runAsNonRoot=true`] };
};

const notUserZero: Check = (spec, containers) => {
  const who = setters(spec, containers, (context) => context.runAsUser === 0);
  return who === '' ? undefined : { title: 'runAsUser=0', details: [`${who} must not set runAsUser=0`] };
};

const seccompRestricted: Check = (spec, containers) => {
  if (spec.os?.name === 'windows') return undefined;
  const unconfined = seccompBaseline(spec, containers);
  if (unconfined || spec.securityContext?.seccompProfile) return unconfined;
  const unset = having(containers, (context) => context.seccompProfile === undefined);
  if (unset.length === 0) return undefined;
  const rule = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { title: 'seccompProfile', details: [`pod or ${named(unset)} ${rule}`] };
};

/** In the order in which the API server tells them. */
const BASELINE: readonly Check[] = [
  capabilitiesBaseline,
  HOST_CHECKS.namespaces,
  HOST_CHECKS.paths,
  HOST_CHECKS.ports,
  privileged,
  seccompBaseline,
];
const RESTRICTED: readonly Check[] = [
  HOST_CHECKS.namespaces,
  HOST_CHECKS.ports,
  privileged,
  escalation,
  capabilitiesRestricted,
  restrictedVolumes,
  nonRoot,
  notUserZero,
  seccompRestricted,
];
