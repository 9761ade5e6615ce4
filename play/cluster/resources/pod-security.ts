import type { ApiError } from '../api/status.ts';
import { forbidden } from '../api/status.ts';
import type { Container, PodSpec, SecurityContext } from '../objects/pod.ts';

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

interface Violation {
  readonly title: string;
  readonly details: readonly string[];
}

type Check = (spec: PodSpec, containers: readonly Container[]) => Violation | undefined;

/**
 * Pod Security Admission over the whole pod, ephemeral containers included, as the API server does it when one is added.
 * Returns the refusal, word for word, or nothing.
 */
export function podSecurityRefusal(podName: string, spec: PodSpec, level: PodSecurityLevel): ApiError | undefined {
  if (level === 'privileged') return undefined;
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  const found = (level === 'restricted' ? RESTRICTED : BASELINE).flatMap((check) => check(spec, containers) ?? []);
  if (found.length === 0) return undefined;
  const told = found.map(({ title, details }) => `${title} (${details.join('; ')})`).join(', ');
  return forbidden('pods', podName, `violates PodSecurity "${level}:latest": ${told}`);
}

function named(containers: readonly Container[]): string {
  return `${containers.length > 1 ? 'containers' : 'container'} ${containers.map(({ name }) => `"${name}"`).join(', ')}`;
}

function violation(title: string, bad: readonly Container[], rule: string): Violation | undefined {
  return bad.length === 0 ? undefined : { title, details: [`${named(bad)} ${rule}`] };
}

const having = (containers: readonly Container[], test: (context: SecurityContext) => boolean) =>
  containers.filter((each) => test(each.securityContext ?? {}));

const quoted = (values: readonly string[]) => values.map((value) => `"${value}"`).join(', ');

function addedCapabilities(containers: readonly Container[], isFine: (capability: string) => boolean) {
  const bad = (each: Container) =>
    (each.securityContext?.capabilities?.add ?? []).filter((capability) => !isFine(capability));
  const guilty = containers.filter((each) => bad(each).length > 0);
  const capabilities = [...new Set(guilty.flatMap(bad))].sort();
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

const seccompBaseline: Check = (_spec, containers) =>
  violation(
    'seccompProfile',
    having(containers, (context) => context.seccompProfile?.type === 'Unconfined'),
    'must not set securityContext.seccompProfile.type to "Unconfined"',
  );

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
  const wrong = having(containers, (context) => context.runAsNonRoot === false);
  if (wrong.length > 0) return violation(title, wrong, 'must not set securityContext.runAsNonRoot=false');
  if (spec.securityContext?.runAsNonRoot === true) return undefined;
  const unset = having(containers, (context) => context.runAsNonRoot === undefined);
  return unset.length === 0
    ? undefined
    : { title, details: [`pod or ${named(unset)} must set securityContext.runAsNonRoot=true`] };
};

const notUserZero: Check = (spec, containers) => {
  if (spec.securityContext?.runAsUser === 0) return { title: 'runAsUser=0', details: ['pod must not set runAsUser=0'] };
  return violation(
    'runAsUser=0',
    having(containers, (context) => context.runAsUser === 0),
    'must not set runAsUser=0',
  );
};

const seccompRestricted: Check = (spec, containers) => {
  const unconfined = seccompBaseline(spec, containers);
  if (unconfined || spec.securityContext?.seccompProfile) return unconfined;
  const unset = having(containers, (context) => context.seccompProfile === undefined);
  if (unset.length === 0) return undefined;
  const rule = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { title: 'seccompProfile', details: [`pod or ${named(unset)} ${rule}`] };
};

/** In the order in which the API server tells them. */
const BASELINE: readonly Check[] = [capabilitiesBaseline, privileged, seccompBaseline];
const RESTRICTED: readonly Check[] = [
  privileged,
  escalation,
  capabilitiesRestricted,
  nonRoot,
  notUserZero,
  seccompRestricted,
];
