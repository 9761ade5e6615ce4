import type { Container, PodSpec, SecurityContext } from '../objects/pod.ts';
import type { RunAs } from './process.ts';

/** Who a container is: user, group, and the capabilities in effect. */
export interface Credentials extends RunAs {
  readonly capabilities: ReadonlySet<string>;
}

const DEFAULT_CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

/** The container's own context over the pod's, over the image's user. A user other than root has no capabilities. */
export function credentialsOf(container: Container, spec: PodSpec, image: RunAs): Credentials {
  const own = container.securityContext ?? {};
  const uid = own.runAsUser ?? spec.securityContext?.runAsUser ?? image.uid;
  const gid = own.runAsGroup ?? spec.securityContext?.runAsGroup ?? image.gid;
  return { uid, gid, capabilities: uid === 0 ? rootCapabilities(own) : new Set() };
}

function rootCapabilities(context: SecurityContext): ReadonlySet<string> {
  if (context.privileged) return new Set([...DEFAULT_CAPABILITIES, 'NET_ADMIN', 'SYS_ADMIN', 'SYS_PTRACE']);
  const drop = context.capabilities?.drop ?? [];
  const kept = drop.includes('ALL') ? [] : DEFAULT_CAPABILITIES.filter((capability) => !drop.includes(capability));
  return new Set([...kept, ...(context.capabilities?.add ?? [])]);
}

/**
 * Whether one process may read another's root, environment and descriptors: with SYS_PTRACE, or as the very same user
 * and group with at least the other's capabilities (the kernel's `ptrace_may_access`; found by experiment).
 */
export function maySee(viewer: Credentials, target: Credentials): boolean {
  if (viewer.capabilities.has('SYS_PTRACE')) return true;
  const isSame = viewer.uid === target.uid && viewer.gid === target.gid;
  return isSame && [...target.capabilities].every((capability) => viewer.capabilities.has(capability));
}
