import { defined } from '../../lib/object.ts';
import { PROFILES } from '../container/profiles.ts';
import type { Policy } from '../policy/policy.ts';
import type { Form } from './message.ts';
import { APPROVAL_NEEDED } from './outcome-text.ts';

/** What a message says about a pod. */
export interface PodHint {
  readonly pod?: string;
  readonly namespace?: string;
}

/** The form of `/kdebug` alone and of the message shortcut. */
export function requestForm(policy: Policy, hint: PodHint = {}): Form {
  const aliases = Object.keys(policy.images);
  return {
    name: 'debug',
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
        ...defined({ initial: hint.pod }),
      },
      {
        id: 'namespace',
        label: 'Namespace',
        kind: 'line',
        optional: true,
        ...defined({ initial: hint.namespace }),
      },
      {
        id: 'image',
        label: 'Image',
        kind: 'choice',
        optional: policy.defaultImage !== undefined,
        options: aliases.slice(0, 100).map((alias) => ({ value: alias, label: alias })),
        ...defined({ initial: policy.defaultImage }),
      },
      {
        id: 'profile',
        label: 'Profile',
        kind: 'choice',
        optional: true,
        options: ['auto', ...PROFILES].map((profile) => ({ value: profile, label: profile })),
        initial: 'auto',
      },
      {
        id: 'command',
        label: 'Command',
        kind: 'line',
        optional: true,
        hint: 'Leave empty for the image’s default command.',
      },
      { id: 'reason', label: 'Reason', kind: 'line', optional: true, maxLength: 500 },
    ],
  };
}

const NAME = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
const LABELLED = {
  pod: new RegExp(`\\bpod(?:[_ ]?name)?["']?\\s*[:=/]\\s*["'\`]?(${NAME})`, 'i'),
  namespace: new RegExp(`\\b(?:namespace|ns)["']?\\s*[:=/]\\s*["'\`]?(${NAME})`, 'i'),
};
/** The name of a Deployment's pod: it ends in the ReplicaSet's hash and five more characters. */
const GENERATED = /\b[a-z0-9][-a-z0-9]{0,200}-[a-z0-9]{6,10}-[a-z0-9]{5}\b/;

/**
 * `pod shop/web-0`, `Pod pod-1234`. The word `pod` alone is too common, so the last part of the name must hold a digit.
 */
const AFTER_WORD = new RegExp(
  `\\b[Pp]od\\s+["'\`]?(?:(${NAME})/)?([a-z0-9][-a-z0-9]{0,200}-[a-z]{0,9}[0-9][a-z0-9]{0,9})(?![-\\w/]|\\.\\w)`,
);
/**
 * kdebug's own card of a run: its note names the run, and its summary, which comes last, names the pod. A card that
 * waits for approval adds the reason.
 */
const WAITING_CARD = new RegExp(
  `· run [a-z0-9]{10}\\b[^]*\\n(?:\\S{1,40} )?${APPROVAL_NEEDED}: (?:@\\S{1,40}, )?\\S+(?: \\([a-z]{1,20}\\))? on (${NAME})/(${NAME})(?:: [^\\n]*)?$`,
);
const OWN_CARD = new RegExp(`· run [a-z0-9]{10}\\b[^]*: \\S+ on (${NAME})/(${NAME})(?:, for @\\S{1,40})?$`);

/**
 * Finds the pod and namespace in a message, for example an alert: first by labels or words, then by the shape of a
 * pod's name.
 */
export function podInText(words: string): PodHint {
  const bounded = words.slice(0, 4_000);
  const own = WAITING_CARD.exec(bounded) ?? OWN_CARD.exec(bounded);
  if (own) return hintOf(own[2], own[1]);
  const namespace = LABELLED.namespace.exec(bounded)?.[1];
  const labelled = LABELLED.pod.exec(bounded)?.[1];
  if (labelled !== undefined) return hintOf(labelled, namespace);
  const named = AFTER_WORD.exec(bounded);
  return named ? hintOf(named[2], namespace ?? named[1]) : hintOf(GENERATED.exec(bounded)?.[0], namespace);
}

const hintOf = (pod: string | undefined, namespace: string | undefined): PodHint => defined({ pod, namespace });

/** The command that a filled form stands for, quoted so that parsing it gives back what was typed. */
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
