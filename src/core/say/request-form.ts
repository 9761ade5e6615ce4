import { formatDuration } from '../../lib/duration.ts';
import { defined, isObject } from '../../lib/object.ts';
import type { ChannelOffer } from '../planning/resolve.ts';
import type { ImageAlias, Policy } from '../policy/policy.ts';
import type { CommandError } from '../request/command.ts';
import { imageSentence } from './answers/private-messages.ts';
import type { Field, Form, Option } from './message/message.ts';
import type { PodHint } from './pod-in-text.ts';

/** The values in the form that decide what its other fields offer. */
export interface FormState extends PodHint {
  readonly cluster?: string;
  readonly image?: string;
}

/** The content of the form besides its state. */
export interface FormView {
  readonly state: FormState;
  readonly offer: ChannelOffer;
  /** The containers of the pod; empty: not known. */
  readonly containers: readonly string[];
  /** The result to expect, or the first step; plain text. */
  readonly intro: string;
}

const FORM = { name: 'debug', title: 'Debug a pod' } as const;

/** Opens at once; what the form offers follows when it is known. */
export const loadingForm: Form = { ...FORM, value: '', intro: 'Reading the cluster…', fields: [] };

/** The form of `/kdebug` alone and of the message shortcut. */
export function requestForm(policy: Policy, { state, offer, containers, intro }: FormView): Form {
  const { cluster, namespace, pod } = state;
  const image = offer.images.find(({ alias }) => alias === (state.image ?? policy.defaultImage));
  const fields: readonly (Field | undefined)[] = [
    offer.clusters.length < 2
      ? undefined
      : choice('cluster', 'Cluster', offer.clusters.map(plainOption), { initial: cluster }),
    {
      ...{ id: 'namespace', label: 'Namespace', kind: 'search', optional: true, dispatches: true },
      ...{ placeholder: 'Type to search', dependsOn: cluster ?? '' },
      ...defined({ initial: namespace }),
    },
    {
      ...{ id: 'pod', label: 'Pod', kind: 'search', optional: false, dispatches: true },
      ...{
        placeholder: 'Type to search',
        hint: 'Or type deployment/NAME, statefulset/NAME, daemonset/NAME or job/NAME.',
      },
      ...{ dependsOn: `${cluster ?? ''}/${namespace ?? ''}` },
      ...defined({ initial: pod }),
    },
    containers.length < 2
      ? undefined
      : choice('container', 'Container', containers.map(plainOption), {
          dependsOn: `${cluster ?? ''}/${namespace ?? ''}/${pod}`,
          hint: 'Leave empty for the pod’s main container.',
        }),
    choice('image', 'Image', offer.images.map(imageOption), {
      optional: policy.defaultImage !== undefined,
      dependsOn: offer.images.map(({ alias }) => alias).join(' '),
      initial: image?.alias,
    }),
    image?.command === 'fixed'
      ? undefined
      : line('command', 'Command', { hint: 'Leave empty for the image’s default command.' }),
    ...(image?.settings ?? []).map((name) =>
      line(`${SETTING}${name}`, name, { maxLength: 256, hint: 'A setting of the image. Leave empty for its default.' }),
    ),
    line('reason', 'Reason', { maxLength: 500 }),
    choice('profile', 'Profile (more power)', ['auto', ...offer.profiles].map(plainOption), {
      dependsOn: offer.profiles.join(' '),
      initial: 'auto',
    }),
    line('timeout', 'Timeout', {
      placeholder: '5m',
      hint: `Leave empty for the image’s own time. At most ${formatDuration(policy.limits.maxTimeoutMs)}.`,
    }),
  ];
  const value = JSON.stringify({ cluster, namespace, pod });
  return { ...FORM, submit: 'Debug', value, intro, fields: fields.filter((field) => field !== undefined) };
}

/** Begins the id of the field of an image's setting. */
const SETTING = 'setting-';

/** The fields without settings of another image than the one that is chosen. */
export function fieldsOfImage(fields: Fields, { settings = [] }: Pick<ImageAlias, 'settings'>): Fields {
  const isOurs = (id: string): boolean => !id.startsWith(SETTING) || settings.includes(id.slice(SETTING.length));
  return Object.fromEntries(Object.entries(fields).filter(([id]) => isOurs(id)));
}

type Fields = Readonly<Record<string, string>>;

type Details = Partial<Pick<Field, 'optional' | 'hint' | 'dependsOn'>> & { readonly initial?: string | undefined };

const choice = (id: string, label: string, options: readonly Option[], { initial, ...details }: Details): Field => ({
  ...{ id, label, kind: 'choice', optional: true, options, dispatches: true },
  ...details,
  ...defined({ initial }),
});

const line = (id: string, label: string, details: Partial<Field>): Field => ({
  ...{ id, label, kind: 'line', optional: true },
  ...details,
});

const plainOption = (value: string): Option => ({ value, label: value });

const imageOption = (alias: ImageAlias): Option => ({ ...plainOption(alias.alias), description: imageSentence(alias) });

/** Reads the form's `value`; ignores a forged one. */
export function stateOfValue(value: string): FormState {
  try {
    const parsed: unknown = JSON.parse(value);
    if (!isObject(parsed)) return {};
    const { cluster, namespace, pod } = parsed;
    return defined({ cluster: wordOf(cluster), namespace: wordOf(namespace), pod: wordOf(pod) });
  } catch {
    return {};
  }
}

const wordOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The fields without those whose meaning is gone: another cluster has other namespaces, another namespace other pods. */
export function validFields(value: string, fields: Fields): Fields {
  const before = stateOfValue(value);
  const { cluster, namespace, pod, container, ...others } = fields;
  const isSameCluster = (cluster ?? before.cluster) === before.cluster;
  const isSameNamespace = isSameCluster && (namespace ?? before.namespace) === before.namespace;
  const isSamePod = isSameNamespace && pod === before.pod;
  return {
    ...others,
    ...defined({
      cluster,
      namespace: isSameCluster ? namespace : undefined,
      pod: isSameNamespace ? pod : undefined,
      container: isSamePod ? container : undefined,
    }),
  };
}

/**
 * The command that a filled form stands for, quoted so that parsing it gives back what was typed. A pod's name alone gets
 * its kind, because it may be a verb's too.
 */
export function commandOfForm(fields: Fields): string {
  const { pod = '', command } = fields;
  const name = pod.trim();
  const profile = fields.profile === 'auto' ? undefined : fields.profile;
  const named: Readonly<Record<string, string | undefined>> = { ...fields, profile };
  const flags = FLAGS.flatMap(([field, flag]) => {
    const value = named[field];
    return value === undefined ? [] : [`--${flag}=${quote(value)}`];
  });
  const settings = Object.entries(fields)
    .filter(([id, value]) => id.startsWith(SETTING) && value !== '')
    .map(([id, value]) => `--env=${quote(`${id.slice(SETTING.length)}=${value}`)}`);
  const target = name === '' || name.includes('/') ? name : `pod/${name}`;
  return [quote(target), ...flags, ...settings, ...(command === undefined ? [] : [`-- ${command}`])].join(' ');
}

/** The field that holds what is wrong with its command. */
export function fieldOfError({ text, start }: Pick<CommandError, 'text' | 'start'>): string {
  const before = text.slice(0, start);
  if (/ -- /.test(before)) return 'command';
  const own = /^--([a-z]+)=/.exec(text.slice(start))?.[1];
  const flag = own ?? [...before.matchAll(/ --([a-z]+)=/g)].at(-1)?.[1];
  return FLAGS.find(([, name]) => name === flag)?.[0] ?? 'pod';
}

const FLAGS = [
  ['cluster', 'cluster'],
  ['namespace', 'namespace'],
  ['container', 'target'],
  ['image', 'image'],
  ['profile', 'profile'],
  ['timeout', 'timeout'],
  ['reason', 'reason'],
] as const;

const quote = (word: string): string => (/^[\w./:@-]+$/.test(word) ? word : `"${word.replaceAll(/(["\\])/g, '\\$1')}"`);
