import { PROFILES } from '../container/profiles.ts';
import type { Policy } from '../policy/policy.ts';
import type { Form } from './form.ts';

/** The form of `/kdebug` alone and of the message shortcut. */
export const REQUEST_FORM = 'debug';

/** What a message says of a pod. */
export interface PodHint {
  readonly pod?: string;
  readonly namespace?: string;
}

export function requestForm(policy: Policy, hint: PodHint = {}): Form {
  const aliases = Object.keys(policy.images);
  return {
    name: REQUEST_FORM,
    value: '',
    title: 'Debug a pod',
    submit: 'Debug',
    fields: [
      {
        id: 'pod',
        label: 'Pod',
        kind: 'line',
        optional: false,
        placeholder: 'web-7d9f8-abcde',
        ...(hint.pod !== undefined && { initial: hint.pod }),
      },
      {
        id: 'namespace',
        label: 'Namespace',
        kind: 'line',
        optional: true,
        ...(hint.namespace !== undefined && { initial: hint.namespace }),
      },
      {
        id: 'image',
        label: 'Image',
        kind: 'choice',
        optional: policy.defaultImage !== undefined,
        options: aliases.slice(0, 100).map((alias) => ({ value: alias, label: alias })),
        ...(policy.defaultImage !== undefined && { initial: policy.defaultImage }),
      },
      {
        id: 'profile',
        label: 'Profile',
        kind: 'choice',
        optional: true,
        options: ['auto', ...PROFILES].map((profile) => ({ value: profile, label: profile })),
        initial: 'auto',
      },
      { id: 'command', label: 'Command', kind: 'line', optional: true, hint: 'Without it, the image runs its own.' },
      { id: 'reason', label: 'Reason', kind: 'line', optional: true, maxLength: 500 },
    ],
  };
}

const NAME = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
const LABELLED = {
  pod: new RegExp(`\\bpod(?:[_ ]?name)?["']?\\s*[:=/]\\s*["'\`]?(${NAME})`, 'i'),
  namespace: new RegExp(`\\b(?:namespace|ns)["']?\\s*[:=/]\\s*["'\`]?(${NAME})`, 'i'),
};
/** The name of a pod of a deployment: its replica set's hash and five more characters. */
const GENERATED = /\b[a-z0-9][-a-z0-9]{0,200}-[a-z0-9]{6,10}-[a-z0-9]{5}\b/;

/** Reads the pod and namespace that an alert, say, is about: by their labels, else by the shape of a pod's name. */
export function podInText(words: string): PodHint {
  const bounded = words.slice(0, 4_000);
  const pod = LABELLED.pod.exec(bounded)?.[1] ?? GENERATED.exec(bounded)?.[0];
  const namespace = LABELLED.namespace.exec(bounded)?.[1];
  return { ...(pod !== undefined && { pod }), ...(namespace !== undefined && { namespace }) };
}

/** The command that a filled form stands for, quoted so that it is read back as it was typed. */
export function commandOfForm(fields: Readonly<Record<string, string>>): string {
  const { pod = '', namespace, image, profile, command, reason } = fields;
  const flags = [
    namespace === undefined ? '' : `-n ${quote(namespace)}`,
    image === undefined ? '' : `--image=${quote(image)}`,
    profile === undefined || profile === 'auto' ? '' : `--profile=${quote(profile)}`,
    reason === undefined ? '' : `--reason=${quote(reason)}`,
    command === undefined ? '' : `-- ${command}`,
  ];
  return [quote(pod.trim()), ...flags.filter((flag) => flag !== '')].join(' ');
}

const quote = (word: string): string => (/^[\w./:@-]+$/.test(word) ? word : `"${word.replaceAll(/(["\\])/g, '\\$1')}"`);
