import type { Pod } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { runtimeMessage } from '../logs/runtime-message.ts';
import { causeOf } from '../reading/causes.ts';
import { cleanWords, quoted } from '../reading/phrases.ts';
import {
  isBeingSetUp,
  isDeleting,
  manifestOf,
  type PodPart,
  partsOf,
  warningsOfPod,
} from '../reading/pod-containers.ts';

const NAME = String.raw`[\w.-]{1,253}`;
/** The kubelet's words for what a container or a volume refers to and does not find. */
const MISSING_OBJECT = new RegExp(`(?<kind>secret|configmap) "(?:${NAME}/)?(?<name>${NAME})" not found`, 'i');
const MISSING_KEY = new RegExp(
  `couldn't find key (?<key>\\S{1,253}) in (?<kind>Secret|ConfigMap) (?:${NAME}/)?(?<name>${NAME})`,
);
const MISSING_KEY_OF_VOLUME =
  /volume "(?<volume>[^"]{1,253})".*references non-existent (?<kind>config|secret) key: (?<key>\S{1,253})/s;
const KINDS: Readonly<Record<string, string>> = { secret: 'Secret', configmap: 'ConfigMap', config: 'ConfigMap' };

interface Missing {
  readonly what: string;
  readonly next: string;
}

/** The object that a message of the kubelet misses; undefined: none. */
export function missingIn(message: string, { pod }: Pick<ClusterFacts, 'pod'>): Missing | undefined {
  const { namespace } = pod.metadata;
  const manifest = manifestOf(pod);
  const kindOf = (kind = ''): string => KINDS[kind.toLowerCase()] ?? kind;
  const key = MISSING_KEY.exec(message)?.groups;
  if (key) {
    const object = `the ${kindOf(key.kind)} ${key.name}`;
    const next = `Add the key ${cleanWords(key.key ?? '', 100)} to ${object}, or correct its name in the manifest of ${manifest}.`;
    return { what: `${object} has no key ${cleanWords(key.key ?? '', 100)}`, next };
  }
  const object = MISSING_OBJECT.exec(message)?.groups;
  if (object) {
    const named = `the ${kindOf(object.kind)} ${object.name}`;
    const next = `Create ${named} in ${namespace}, or correct its name in ${manifest}.`;
    return { what: `${named} does not exist`, next };
  }
  const file = MISSING_KEY_OF_VOLUME.exec(message)?.groups;
  if (!file) return undefined;
  const named = cleanWords(file.key ?? '', 100);
  const next = `Add the key ${named} to that ${kindOf(file.kind)}, or correct the volume’s items in the manifest of ${manifest}.`;
  return { what: `the ${kindOf(file.kind)} of the volume ${file.volume} has no key ${named}`, next };
}

function missingOfContainer(part: PodPart, facts: ClusterFacts): Finding | undefined {
  const { waiting } = part.status ?? {};
  if (waiting?.reason !== 'CreateContainerConfigError') return undefined;
  const missing = missingIn(waiting.message, facts);
  if (!missing) return undefined;
  const text = `${part.title} cannot start: ${missing.what}`;
  return { code: 'config_missing', containerName: part.name, text, next: missing.next };
}

/** A warning is current only while nothing of the pod has run: the kubelet mounts before it starts anything. */
function missingOfVolume(facts: ClusterFacts): readonly Finding[] {
  if (!isBeingSetUp(facts.pod)) return [];
  const mounts = (warningsOfPod(facts) ?? []).filter(({ reason }) => reason === 'FailedMount');
  const found = mounts.flatMap(({ message }) => missingIn(message, facts) ?? []);
  const [first] = found;
  return first ? [{ code: 'config_missing', text: `the pod cannot start: ${first.what}`, next: first.next }] : [];
}

const NON_ROOT = /runAsNonRoot|non-root/;

function nonRootOf(part: PodPart, { pod }: ClusterFacts): Finding | undefined {
  const { waiting } = part.status ?? {};
  if (waiting?.reason !== 'CreateContainerConfigError' || !NON_ROOT.test(waiting.message)) return undefined;
  const user = /non-numeric user \((?<user>[^)]{1,64})\)/.exec(waiting.message)?.groups?.user;
  const why =
    user !== undefined
      ? `its image’s user ${cleanWords(user, 64)} is a name, so nobody can tell that it is not root`
      : /runAsUser breaks/.test(waiting.message)
        ? 'its runAsUser is 0'
        : 'its image runs as root';
  const text = `${part.title} cannot start: runAsNonRoot is set, and ${why}`;
  const next = `Set runAsUser to a number above 0 in the manifest of ${manifestOf(pod)}, or use an image whose user is such a number.`;
  return { code: 'run_as_non_root', containerName: part.name, text, next };
}

const NOT_RUN: ReadonlySet<string> = new Set([
  'StartError',
  'ContainerCannotRun',
  'RunContainerError',
  'CreateContainerError',
]);

/** The runtime's error for a container that it could not start; undefined: it ran, or nobody tried. */
export function failedStartOf({ status, ended }: PodPart): string | undefined {
  const { waiting, running } = status ?? {};
  if (running) return undefined;
  if (waiting && NOT_RUN.has(waiting.reason)) {
    // The state may hold only a reason; the message is then that of the last try.
    return waiting.message !== '' || !ended || !NOT_RUN.has(ended.reason) ? waiting.message : ended.message;
  }
  return ended && NOT_RUN.has(ended.reason) ? ended.message : undefined;
}

/** A memory limit in which not even the runtime's first process fits: `tooSmallFindings` names it. */
export const isOutOfMemoryAtStart = (message: string): boolean => /OOM-killed|memory limit too low/i.test(message);

const COMMAND =
  /exec:? |executable file not found|exec format error|no such file or directory|permission denied|chdir|not a directory/;

/** `cannot load seccomp profile "/var/lib/kubelet/seccomp/NAME": …`, `apparmor profile not found NAME`. */
const PROFILE =
  /(?<kind>seccomp|apparmor) profile (?:not found )?"?(?:\/\S{0,200}?\/seccomp\/)?(?<path>[\w./-]{1,200}?)"?(?:: .*no such file.*|$)/is;

function missingProfile(part: PodPart, kind: string, path: string): Finding {
  const profile = kind.toLowerCase() === 'seccomp' ? 'seccomp' : 'AppArmor';
  return {
    code: 'not_starting',
    containerName: part.name,
    text: `${part.title} cannot start: its node has no ${profile} profile ${cleanWords(path, 100)}`,
    next: 'Whoever runs the nodes must put the profile on each of them; or use the type RuntimeDefault in the manifest.',
  };
}

function failedStartFinding(part: PodPart, { pod }: ClusterFacts): Finding | undefined {
  const message = failedStartOf(part);
  if (message === undefined || isOutOfMemoryAtStart(message)) return undefined;
  const words = runtimeMessage(message);
  const profile = PROFILE.exec(words)?.groups;
  if (profile) return missingProfile(part, profile.kind ?? '', profile.path ?? '');
  const isCommand = COMMAND.test(words) && !/mount/.test(words);
  const of = { code: isCommand ? 'wrong_command' : 'not_starting', containerName: part.name };
  const text = `${part.title} cannot start: ${quoted(words) || 'the runtime gives no reason'}`;
  if (!isCommand)
    return {
      ...of,
      text,
      next: causeOf(words)?.next ?? `Correct what it names in the manifest of ${manifestOf(pod)}.`,
    };
  return { ...of, text, next: nextOfCommand(words, pod) };
}

function nextOfCommand(words: string, pod: Pod): string {
  if (/exec format error/.test(words))
    return 'Build the image for the nodes’ architecture, or begin the script with a line such as #!/bin/sh.';
  return /permission denied/.test(words)
    ? 'Make the program executable in the image (chmod +x), or name another command.'
    : `Correct the command in the manifest of ${manifestOf(pod)}, or use an image that has this program.`;
}

const NOT_STARTING: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'PostStartHookError',
  'PreCreateHookError',
  'PreStartHookError',
]);

/** The kubelet's words, with the hook's own output last. */
const HOOK = /exited with (?<code>\d{1,3}):.*?message: "(?<output>.*)"$/s;

function failedHook(part: PodPart, message: string, { pod }: ClusterFacts): Finding {
  const { code, output = '' } = HOOK.exec(message)?.groups ?? {};
  const lines = output.split(/\\n|\n/).filter((line) => line.trim() !== '');
  const words = code === undefined ? quoted(message) : quoted(lines.at(-1) ?? '');
  const how = code === undefined ? '' : ` with code ${code}`;
  const text = `${part.title} is killed because its postStart hook fails${how}${words && `: ${words}`}`;
  const next = `Correct the postStart hook of ${part.name} in the manifest of ${manifestOf(pod)}, or what it needs.`;
  return { code: 'not_starting', containerName: part.name, text, next };
}

function notStarting(part: PodPart, facts: ClusterFacts): Finding | undefined {
  const { waiting } = part.status ?? {};
  const failed = failedStartFinding(part, facts);
  if (failed?.code === 'not_starting') return failed;
  if (!waiting || !NOT_STARTING.has(waiting.reason)) return undefined;
  if (missingOfContainer(part, facts) || nonRootOf(part, facts)) return undefined;
  if (waiting.reason === 'PostStartHookError') return failedHook(part, waiting.message, facts);
  const words = quoted(waiting.message) || `it waits with ${cleanWords(waiting.reason, 60)}`;
  const next = `Correct what it names in the manifest of ${manifestOf(facts.pod)}.`;
  return { code: 'not_starting', containerName: part.name, text: `${part.title} cannot start: ${words}`, next };
}

const STARTING = { seenBy: 'cluster', section: 'start', rank: 1 } as const;
const VAGUER = ['not_ready', 'warning_events', 'restarts', 'crash_loop', 'volume_not_mounted', 'init_waiting'];

const ofEach = (facts: ClusterFacts, find: (part: PodPart, facts: ClusterFacts) => Finding | undefined) =>
  isDeleting(facts.pod) ? [] : partsOf(facts.pod).flatMap((part) => find(part, facts) ?? []);

export const CONFIGURATION_RULES: readonly ClusterRule[] = [
  {
    ...STARTING,
    code: 'config_missing',
    reads: 'the state of each container, event FailedMount while the pod is being set up',
    means: 'A container or a volume refers to a Secret, a ConfigMap or a key that does not exist.',
    next: 'Create what is missing, or correct its name in the manifest.',
    source: 'Kubernetes, "Secrets" and "ConfigMaps": a pod waits until what it refers to exists',
    replaces: VAGUER,
    find: (facts) => [...ofEach(facts, missingOfContainer), ...missingOfVolume(facts)],
  },
  {
    ...STARTING,
    code: 'run_as_non_root',
    reads: 'the state of each container',
    means: 'The pod forbids root (runAsNonRoot), and its image or its runAsUser is root, or may be.',
    next: 'Set runAsUser to a number above 0, or use an image whose user is such a number.',
    source: 'Kubernetes, "Configure a Security Context", runAsNonRoot; the kubelet’s words',
    replaces: VAGUER,
    find: (facts) => ofEach(facts, nonRootOf),
  },
  {
    ...STARTING,
    code: 'wrong_command',
    reads: 'the state and the last end of each container, in the runtime’s own words',
    means: 'The image has no such program, or it may not be executed: the command of a container is wrong.',
    next: 'Correct the command in the manifest, or use an image that has this program.',
    source: 'runc and containerd: StartError, RunContainerError and ContainerCannotRun with their message',
    replaces: VAGUER,
    find: (facts) =>
      ofEach(facts, (part) => {
        const finding = failedStartFinding(part, facts);
        return finding?.code === 'wrong_command' ? finding : undefined;
      }),
  },
  {
    ...STARTING,
    code: 'not_starting',
    reads: 'the state and the last end of each container, in the runtime’s own words',
    means: 'A container of the pod cannot start: its configuration is wrong.',
    next: 'Correct what the answer quotes in the manifest.',
    source: 'Kubernetes, "Debug Pods": the reasons of a waiting container',
    replaces: VAGUER,
    find: (facts) => ofEach(facts, notStarting),
  },
];
