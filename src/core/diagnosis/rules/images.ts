import { grouped } from '../../../lib/object.ts';
import type { PodEvent } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { cleanWords, quoted } from '../reading/phrases.ts';
import {
  containerOfEvent,
  isDeleting,
  manifestOf,
  type PodPart,
  partsOf,
  warningsOfPod,
} from '../reading/pod-containers.ts';

const NOT_PULLED: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

interface PullFailure {
  readonly matches: RegExp;
  /** Follows the image: `registry/app:1 …`. */
  readonly says: string;
  readonly next: (manifest: string) => string;
  /** The words add nothing. */
  readonly isPlain?: true;
}

/** The words of containerd, CRI-O, Docker and registries, the most telling first. */
const FAILURES: readonly PullFailure[] = [
  {
    matches: /no match for platform|no matching manifest/i,
    says: 'has no variant for the node’s processor',
    next: () => 'Build the image for the architecture of the nodes, or choose nodes of the image’s architecture.',
  },
  {
    matches: /toomanyrequests|rate limit|429 Too Many Requests/i,
    says: 'is refused: the registry limits how often it may be pulled',
    next: () => 'Wait, or pull with a login (imagePullSecrets) or from a mirror.',
  },
  {
    matches:
      /authorization failed|unauthorized|\b40[13]\b(?! ?->)|no basic auth|denied|authentication required|insufficient_scope/i,
    says: 'cannot be pulled: there is no such repository, or the registry wants a login',
    next: (manifest) => `Correct the image’s name, or give ${manifest} imagePullSecrets for that registry.`,
  },
  {
    matches: /no such host|server misbehaving/i,
    says: 'cannot be pulled: its registry’s name is not known',
    next: (manifest) =>
      `Correct the registry in the image’s name in the manifest of ${manifest}, or the DNS of the node.`,
  },
  {
    matches: /x509|certificate|server gave HTTP response to HTTPS client|tls:/i,
    says: 'cannot be pulled: the node does not trust its registry',
    next: () => 'Whoever runs the nodes must give them the registry’s certificate, or the registry a valid one.',
  },
  {
    matches:
      /connection refused|i\/o timeout|deadline exceeded|TLS handshake timeout|no route to host|network is unreachable|connection reset|503 Service|502 Bad|500 Internal|EOF/i,
    says: 'cannot be pulled: its registry does not answer',
    next: (manifest) =>
      `Check that the registry is up, that the node reaches it, and its name in the manifest of ${manifest}.`,
  },
  {
    matches: /no space left on device/i,
    says: 'cannot be pulled: the disk of the node is full',
    next: () => 'Whoever runs the node must free its disk.',
  },
  {
    matches: /not found|manifest unknown|NotFound|does not exist/i,
    says: 'does not exist: there is no such name or tag',
    next: (manifest) => `Correct the image’s name or tag in the manifest of ${manifest}, or push the image.`,
    isPlain: true,
  },
];

const ruleOf = (image: string): string =>
  image.includes('@')
    ? 'a digest is sha256: and 64 digits (0 to 9, a to f)'
    : 'lower case, without spaces, one tag behind a colon';

/** A digest has any digits, also those of a status code. */
const DIGEST = /sha256:[0-9a-f]+/g;

function failureIn(message: string): PullFailure | undefined {
  const words = message.replaceAll(DIGEST, '');
  return FAILURES.find(({ matches }) => matches.test(words));
}

/** Why an image was not pulled, in words that follow the image: `does not exist: …`. Undefined: nothing that is known. */
export const whyNotPulled = (reason: string, message: string): string | undefined =>
  reason === 'ErrImagePull' || reason === 'ImagePullBackOff'
    ? failureIn(message.replaceAll(/"[^"]{1,300}"/g, ''))?.says
    : undefined;

/** By container, the newest first. */
type Warnings = ReadonlyMap<string, readonly PodEvent[]>;

function pullFinding(part: PodPart, facts: ClusterFacts, warnings: Warnings): Finding | undefined {
  const { waiting } = part.status ?? {};
  if (!waiting || !NOT_PULLED.has(waiting.reason)) return undefined;
  const manifest = manifestOf(facts.pod);
  const image = cleanWords(part.spec?.image || part.status?.image || '', 140) || 'without a name';
  const of = { code: 'image_not_pulled', containerName: part.name };
  const head = `${part.title} cannot start: its image ${image}`;
  if (waiting.reason === 'InvalidImageName') {
    const text = `${head} is not a valid image name`;
    return { ...of, text, next: `Correct the image’s name in the manifest of ${manifest}: ${ruleOf(image)}.` };
  }
  if (waiting.reason === 'ErrImageNeverPull') {
    const text = `${head} is not on the node, and imagePullPolicy: Never forbids to pull it`;
    const next = `Use imagePullPolicy: IfNotPresent in the manifest of ${manifest}, or load the image onto the node.`;
    return { ...of, text, next };
  }
  const words = wordsOf(part, waiting.message, warnings);
  const failure = failureIn(words.replaceAll(image, ''));
  if (!failure) {
    const next = `Check the image’s name in the manifest of ${manifest}, and that its registry can be reached from the node.`;
    return { ...of, text: [`${head} cannot be pulled`, quoted(lastPart(words))].filter(Boolean).join(': '), next };
  }
  const secret = pullSecretMissing(warnings);
  if (secret !== undefined && /login/.test(failure.says)) {
    const text = `${head} cannot be pulled: the Secret ${secret} for its registry does not exist`;
    return {
      ...of,
      text,
      next: `Create the Secret ${secret} in ${facts.pod.metadata.namespace} (type kubernetes.io/dockerconfigjson).`,
    };
  }
  const quotation = failure.isPlain ? '' : `: ${quoted(lastPart(words), 90)}`;
  return { ...of, text: `${head} ${failure.says}${quotation}`, next: failure.next(manifest) };
}

/** The message of the state says why only in newer versions; the event `Failed` always does. */
function wordsOf({ name }: PodPart, message: string, warnings: Warnings): string {
  if (!/^Back-off pulling image "[^"]*"\.?$/.test(message) && message !== '') return message;
  const failed = warnings.get(name)?.find((event) => event.reason === 'Failed' && /pull/i.test(event.message));
  return failed?.message ?? message;
}

/** The runtime wraps the cause in what it did: `failed to pull …: failed to resolve …: CAUSE`. */
function lastPart(words: string): string {
  const parts = words.split(/: (?=failed to |rpc error|ErrImagePull|code = )/);
  const last = parts.at(-1) ?? words;
  return last
    .replace(/^failed to (?:resolve reference|do request|authorize|fetch [\w ]+)(?: "[^"]*")?: /, '')
    .replace(/^.*?: (?=dial tcp|unexpected status|pull access denied|failed to do request)/, '');
}

const NO_SECRET = /^Unable to retrieve some image pull secrets \((?<names>[^)]{1,300})\)/;

/** It is an event of the pod as a whole. */
function pullSecretMissing(warnings: Warnings): string | undefined {
  const names = (warnings.get('') ?? []).flatMap(({ message }) => NO_SECRET.exec(message)?.groups?.names ?? []);
  return names[0] === undefined ? undefined : cleanWords(names[0], 100);
}

export const IMAGE_RULES: readonly ClusterRule[] = [
  {
    code: 'image_not_pulled',
    seenBy: 'cluster',
    section: 'start',
    rank: 1,
    reads: 'the state of each container, its image, events Failed and FailedToRetrieveImagePullSecret',
    means:
      'The node cannot get the image of a container: a wrong name, no such tag, no login, or no way to the registry.',
    next: 'Correct the image’s name in the manifest, or give the pod a login for that registry.',
    source: 'Kubernetes, "Images"; the words of containerd and of registries (OCI Distribution, error codes)',
    replaces: ['not_ready', 'warning_events', 'not_starting', 'restarts', 'crash_loop'],
    find: (facts) => {
      const warnings = grouped(warningsOfPod(facts) ?? [], containerOfEvent);
      return isDeleting(facts.pod)
        ? []
        : partsOf(facts.pod).flatMap((part) => pullFinding(part, facts, warnings) ?? []);
    },
  },
];
