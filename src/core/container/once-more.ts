import type { EnvVar, ImagePullPolicy } from './ephemeral-container.ts';
import { isPinned } from './names.ts';

/**
 * The command, mounts and names of variables of a container: no value of a variable, and nothing that a ConfigMap or a
 * Secret holds. The API server changes none of it for the pod's life.
 */
export interface Original {
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** The names in its `env`. */
  readonly variables: readonly string[];
  /** Of its `envFrom`: `ConfigMap shop`, `Secret db`. */
  readonly sources: readonly string[];
  /** `data at /var/lib/shop`. */
  readonly mounts: readonly string[];
  /** Mounts with a subPath, which an ephemeral container may not have. */
  readonly unmountable: readonly string[];
  /** An emptyDir that a tracer can be copied into (`Carrier`). Absent: the pod has none that is safe for it. */
  readonly emptyDir?: string;
}

/**
 * Brings a tracer to a second run: a container of this image copies it into the volume, and from there it starts the
 * program, tells how that ends, and ends it when its time is over.
 */
export interface Carrier {
  readonly image: string;
  readonly volume: string;
  /** From the start of the program. */
  readonly endsAfterMs: number;
  /** The memory in bytes that the program has in its own container; near it the tracer looks at the program. Absent: no limit. */
  readonly memoryLimit?: number;
}

/** A second run of a pod's own container, as people approve it. */
export interface OnceMore extends Original {
  readonly container: string;
  /** Of its variables, those to leave out. */
  readonly withoutEnv: readonly string[];
  /** Variables that kdebug adds, so that a runtime says why it ends. */
  readonly switches: readonly EnvVar[];
  readonly serviceAccount: string;
  /** `runAsUser` of the container, else of its pod. Absent: its image decides. */
  readonly user?: number;
  /** It runs with the image of this revision of its Deployment, not with its own. */
  readonly revision?: number;
  /** Absent: nothing traces it, and nobody can end it. */
  readonly carrier?: Carrier;
}

/** Names the container whose program runs a second time; it marks such a container in the pod. */
export const ONCE_MORE_VARIABLE = 'KDEBUG_ONCE_MORE';

/** Variables of these names are kdebug's own, so none is copied. */
export const isReserved = (name: string): boolean => name.startsWith('KDEBUG_');

/**
 * Each only makes a runtime say more, and no other program reads it. Not among them: `NODE_OPTIONS`, because Node's report
 * prints the values of the environment, and `JAVA_TOOL_OPTIONS`, because a JVM does not start with a switch that it does
 * not know.
 */
const SWITCHES: readonly EnvVar[] = [
  { name: 'GOTRACEBACK', value: 'all' },
  { name: 'PYTHONFAULTHANDLER', value: '1' },
  { name: 'PYTHONUNBUFFERED', value: '1' },
  { name: 'RUST_BACKTRACE', value: 'full' },
];

/** Those that the container does not set itself, and that nobody wants left out. */
export const switchesFor = ({ variables }: Original, withoutEnv: readonly string[]): readonly EnvVar[] =>
  SWITCHES.filter(({ name }) => !variables.includes(name) && !withoutEnv.includes(name));

/** An image that a node has by its id alone cannot be pulled. */
const IMAGE_ID = /^sha256:[a-f0-9]{64}$/;

/** The image that a container ran, by its digest, from its status. Undefined: the status names none. */
export function imageThatRan(
  imageID: string,
): { readonly image: string; readonly imagePullPolicy: ImagePullPolicy } | undefined {
  const image = imageID.replace(/^docker(?:-pullable)?:\/\//, '');
  if (isPinned(image)) return { image, imagePullPolicy: 'IfNotPresent' };
  return IMAGE_ID.test(image) ? { image, imagePullPolicy: 'Never' } : undefined;
}
