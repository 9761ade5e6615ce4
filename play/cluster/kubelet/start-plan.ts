import type { Container, PodObject } from '../objects/pod.ts';
import { type Credentials, credentialsOf } from '../programs/access.ts';
import { type Image, type Images, isReference } from '../programs/images.ts';
import type { Program } from '../programs/process.ts';
import { findProgram } from '../programs/programs.ts';

/** Why a container does not start, in the kubelet's words, and when it is tried again. */
export interface StartProblem {
  readonly kind: 'problem';
  readonly reason: string;
  readonly message: string;
  /** Reasons and messages of the events, warnings unless marked otherwise. */
  readonly events: readonly { readonly reason: string; readonly message: string; readonly isNormal?: boolean }[];
  readonly retry: 'pull' | 'target' | 'sync' | 'never';
  /** The runtime had made the container: its last state is `StartError`. */
  readonly isStartError: boolean;
  /** Of what the runtime had made. */
  readonly imageId?: string;
}

export interface StartReady {
  readonly kind: 'ready';
  readonly image: Image;
  readonly imageId: string;
  readonly credentials: Credentials;
  readonly argv: readonly string[];
  /** Absent: a service that stays until it is stopped. */
  readonly program?: Program;
}

/** Whether the target may be joined; `undefined`: no target was named. */
type TargetState = { readonly isRunning: boolean; readonly id: string } | undefined;

/** Everything that the kubelet and the runtime check before a container runs, in their order. */
export function planStart(
  pod: PodObject,
  container: Container,
  images: Images,
  target: TargetState,
): StartReady | StartProblem {
  const image = images.find(container.image);
  if (!image || !isReference(container.image)) return imageProblem(container);
  const credentials = credentialsOf(container, pod.spec, image.user);
  const rootProblem = nonRootProblem(pod, container, credentials);
  if (rootProblem) return rootProblem;
  if (target && !target.isRunning) return targetProblem(container, target.id);
  const argv = commandOf(container, image);
  const ready = { kind: 'ready' as const, image, imageId: images.idOf(container.image), credentials, argv };
  // Its entry point takes arguments: those of a stop.
  const isOwnEntry = image.recorded === 'autodiagnose' && container.command === undefined;
  if (argv.length === 0 || isOwnEntry) return ready;
  const program = findProgram(image.programs, argv[0] ?? '');
  return program ? { ...ready, program } : commandProblem(container, argv[0] ?? '', ready.imageId);
}

/** The events before anything can fail, for a container whose image is there. */
export const pulled = ({ image }: Container) => ({
  reason: 'Pulled',
  message: `Container image "${image}" already present on machine`,
  isNormal: true,
});

export const created = ({ name }: Container) => ({
  reason: 'Created',
  message: `Created container: ${name}`,
  isNormal: true,
});

const problem = (fields: Pick<StartProblem, 'reason' | 'message' | 'events' | 'retry'>): StartProblem => ({
  kind: 'problem',
  isStartError: false,
  ...fields,
});

function imageProblem({ image, imagePullPolicy }: Container): StartProblem {
  if (!isReference(image)) {
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format${whyNoReference(image)}`;
    const events = [
      { reason: 'InspectFailed', message },
      { reason: 'Failed', message: 'Error: InvalidImageName' },
    ];
    return problem({ reason: 'InvalidImageName', message, events, retry: 'never' });
  }
  if (imagePullPolicy === 'Never') {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    const events = [
      { reason: 'ErrImageNeverPull', message },
      { reason: 'Failed', message: 'Error: ErrImageNeverPull' },
    ];
    return problem({ reason: 'ErrImageNeverPull', message, events, retry: 'sync' });
  }
  const message = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
  const events = [
    { reason: 'Pulling', message: `Pulling image "${image}"`, isNormal: true },
    { reason: 'Failed', message: `Failed to pull image "${image}": ${message}` },
    { reason: 'Failed', message: 'Error: ErrImagePull' },
  ];
  return problem({ reason: 'ErrImagePull', message, events, retry: 'pull' });
}

/** The reference library names one mistake: capitals in what would be fine without. */
function whyNoReference(image: string): string {
  const isRemote = /^([^/]*[.:][^/]*|localhost)\//.test(image);
  const path = isRemote ? image.slice(image.indexOf('/') + 1) : image.includes('/') ? image : `library/${image}`;
  const name = path.split(/[:@]/)[0] ?? '';
  return name === name.toLowerCase() ? '' : `: repository name (${name}) must be lowercase`;
}

function nonRootProblem(pod: PodObject, container: Container, { uid }: Credentials): StartProblem | undefined {
  const own = container.securityContext;
  const mustNotBeRoot = own?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot ?? false;
  if (!mustNotBeRoot || uid !== 0) return undefined;
  const { name, namespace, uid: podUid } = pod.metadata;
  const isSaid = (own?.runAsUser ?? pod.spec.securityContext?.runAsUser) === 0;
  const why = isSaid
    ? "container's runAsUser breaks non-root policy"
    : 'container has runAsNonRoot and image will run as root';
  const message = `${why} (pod: "${name}_${namespace}(${podUid})", container: ${container.name})`;
  return problem({
    reason: 'CreateContainerConfigError',
    message,
    events: [pulled(container), { reason: 'Failed', message: `Error: ${message}` }],
    retry: 'sync',
  });
}

/** The runtime's sentence names a container of its own making; the target's id is the one that matters. */
function targetProblem(container: Container, id: string): StartProblem {
  const hex = id.replace('containerd://', '');
  const message = `failed to generate container "${'0'.repeat(64)}" spec: invalid target container: container "${hex}" is not running - in state CONTAINER_EXITED`;
  return problem({
    reason: 'CreateContainerError',
    message,
    events: [pulled(container), { reason: 'Failed', message: `Error: ${message}` }],
    retry: 'target',
  });
}

function commandProblem(container: Container, word: string, imageId: string): StartProblem {
  const why = word.includes('/') ? `stat ${word}: no such file or directory` : 'executable file not found in $PATH';
  const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "${word}": ${why}: unknown`;
  const events = [pulled(container), created(container), { reason: 'Failed', message: `Error: ${message}` }];
  return { ...problem({ reason: 'RunContainerError', message, events, retry: 'never' }), isStartError: true, imageId };
}

/** The command that really runs: `$(NAME)` expanded from the container's environment, `$$` turned into `$` (core/v1 Container). */
function commandOf(container: Container, image: Image): readonly string[] {
  const env = envOf(container);
  const command = container.command ?? image.entrypoint;
  return [...command, ...(container.args ?? [])].map((word) => expand(word, env));
}

export function envOf(container: Container): ReadonlyMap<string, string> {
  const env = new Map([
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOME', '/root'],
  ]);
  for (const { name, value } of container.env ?? []) env.set(name, expand(value ?? '', env));
  return env;
}

function expand(word: string, env: ReadonlyMap<string, string>): string {
  return word.replace(/\$\$|\$\(([^)]+)\)/g, (found, name?: string) =>
    name === undefined ? '$' : (env.get(name) ?? found),
  );
}
