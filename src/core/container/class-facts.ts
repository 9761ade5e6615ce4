import type { ImageClass } from './image-class.ts';

interface FactText {
  /** The class of a launch with this fact, at least. */
  readonly class: ImageClass;
  /** For a card, after "elevated: ". */
  readonly words: string;
  /** For the documentation: the harm it makes possible. */
  readonly why: string;
}

export const CLASS_FACTS = {
  'second-run': {
    class: 'elevated',
    words: 'the program runs a second time beside its pod',
    why: 'it migrates, consumes, locks and writes as the first one does, with the same rights and secrets',
  },
  'host-pid': {
    class: 'elevated',
    words: "the pod shares the node's processes (hostPID)",
    why: 'the same user, or root, reads and ends processes of the node and of other pods',
  },
  'host-network': {
    class: 'elevated',
    words: "the pod uses the node's network (hostNetwork)",
    why: "any user reaches what listens on the node's own addresses only",
  },
  'host-ipc': {
    class: 'elevated',
    words: "the pod shares the node's memory segments and queues (hostIPC)",
    why: 'the same user, or root, reads and changes memory that programs of the node share',
  },
  'shared-volume': {
    class: 'elevated',
    words: 'a volume that reaches beyond the pod',
    why: "the files of the node, or of other pods, are open below the container's root",
  },
  'privileged-container': {
    class: 'elevated',
    words: 'a privileged container in reach',
    why: 'whoever takes over one of its processes has the node',
  },
  'capable-container': {
    class: 'elevated',
    words: 'a container with added capabilities in reach',
    why: 'whoever takes over one of its processes has its capabilities',
  },
  'unmasked-proc': {
    class: 'elevated',
    words: 'a container with an unmasked /proc in reach',
    why: "the node's kernel settings can be read, and changed by root",
  },
  'unconfined-container': {
    class: 'elevated',
    words: 'a container in reach with weaker confinement than usual',
    why: 'whoever takes over one of its processes has less of SELinux, AppArmor or seccomp between it and the node',
  },
  'root-in-non-root': {
    class: 'elevated',
    words: 'root, where the workload does not run as root',
    why: 'it has more power than its target',
  },
  privileged: {
    class: 'elevated',
    words: 'the debug container is privileged',
    why: 'a privileged container has the node',
  },
  capabilities: {
    class: 'elevated',
    words: 'the debug container has added capabilities',
    why: 'with NET_ADMIN it redirects and drops the traffic of the pod, which its target rarely can',
  },
  unconfined: {
    class: 'elevated',
    words: 'the debug container gets weaker confinement than usual from its pod',
    why: 'it has less of SELinux, AppArmor or seccomp between it and the node',
  },
  tracer: {
    class: 'intrusive',
    words: 'the image seizes its target (ptrace)',
    why: "as a debugger does: it stops its target, and could read and write all of the target's memory and registers",
  },
  'own-words': {
    class: 'intrusive',
    words: 'a free command that may reach the workload',
    why: 'it reads its environment, files and tokens, writes to its files, ends its processes, and may go on after the run',
  },
} as const satisfies Readonly<Record<string, FactText>>;
export type ClassFact = keyof typeof CLASS_FACTS;

export interface ClassReason {
  readonly fact: ClassFact;
  /** The container that the fact is about; absent when it is about the pod. */
  readonly container?: string;
  /** The volume and its kind, the capability, or what confines less. */
  readonly detail?: string;
}

/**
 * `elevated: a volume that reaches beyond the pod (log: hostPath host)`, or the class alone: earlier versions recorded
 * no reasons.
 */
export function classText(judged: ImageClass, reasons: readonly ClassReason[] = []): string {
  const words = reasons.map(({ fact, container, detail }) => {
    const where = [container, detail].filter((part) => part !== undefined).join(': ');
    return where === '' ? CLASS_FACTS[fact].words : `${CLASS_FACTS[fact].words} (${where})`;
  });
  return words.length === 0 ? judged : `${judged}: ${words.join('; ')}`;
}
