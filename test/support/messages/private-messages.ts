import { parseCommand } from '../../../src/core/command/parse.ts';
import { REASONS, type ReasonCode } from '../../../src/core/errors.ts';
import type { ImageAlias } from '../../../src/core/policy/policy.ts';
import {
  canIMessage,
  rehearsalMessage,
  type WhoAmI,
  whoAmIMessage,
} from '../../../src/core/say/answers/explain-messages.ts';
import { EXAMPLES, helpMessage } from '../../../src/core/say/answers/help.ts';
import {
  commandErrorMessage,
  imagesMessage,
  limitedMessage,
  reasonMessage,
  refusalMessage,
} from '../../../src/core/say/answers/private-messages.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { aPlan, aPolicy, aRule, aRun, START_MS } from '../builders.ts';
import type { Example, MessageKind } from './kinds.ts';

/** What people mistype, each with its own words. */
const MISTAKES = [
  'lsit',
  'web-1 --imgae=debian',
  'web-1 --timeout=forever',
  'web-1 -- ',
  'web-1 two',
  'secret/web',
  'show',
  'show abc',
  'batch abcdefgh23 explode',
  'web-1 --replicas=2',
  'web-1 --profile=root',
  'web-1 --reason="why',
  'kubectl get pods',
] as const;

const mistakes: readonly Example[] = MISTAKES.flatMap((words) => {
  const parsed = parseCommand(words);
  return parsed.kind === 'error' ? [{ name: words.trim(), message: commandErrorMessage(parsed.error) }] : [];
});

const REASON_CODES = Object.keys(REASONS) as ReasonCode[];

const refused = (code: ReasonCode, rule?: string): Message =>
  refusalMessage(aRun({ state: 'denied' }), {
    code,
    message: REASONS[code].title,
    hint: REASONS[code].hint,
    ...(rule === undefined ? {} : { rule }),
  });

const WHO: WhoAmI = {
  userId: 'U0ROY',
  teamId: 'T0TEAM',
  channelId: 'C0SHOP',
  identity: undefined,
  isRefused: false,
  mappedTo: undefined,
  approverGroups: ['sre'],
  rules: [aRule()],
};

/** Answers that one person alone reads. */
const NET: ImageAlias = {
  ...{ alias: 'net', reference: 'registry.example.com/net:1', class: 'observe', command: 'fixed', diagnostic: true },
  ...{ settings: ['NET_ENDPOINT', 'NET_SECONDS'], description: 'Tries the names and addresses that the pod needs.' },
};

const CAPTURE: ImageAlias = { ...NET, alias: 'capture', class: 'elevated' };
const BLACKBOX: ImageAlias = {
  ...{ alias: 'blackbox', reference: 'blackbox:1', class: 'intrusive', command: 'fixed' },
  traces: true,
  description: 'Waits for the end of a process, and says how it died.',
};

export const PRIVATE_MESSAGES: readonly MessageKind[] = [
  {
    file: 'private/errors',
    examples: REASON_CODES.map((code) => ({ name: code, message: reasonMessage(code) })),
  },
  {
    file: 'private/refusals',
    examples: [
      { name: 'no such pod', message: refused('pod_not_found') },
      { name: 'a rule', message: refused('class_not_allowed', 'look') },
      { name: 'a reason is missing', message: refused('reason_required', 'attach') },
      {
        name: 'too many in a minute',
        message: limitedMessage('limit_per_person', { count: 6, max: 6, retryAtMs: START_MS }),
      },
      { name: 'too many at once', message: limitedMessage('limit_runs_per_person', { count: 7, max: 7 }) },
    ],
  },
  { file: 'private/mistakes', examples: mistakes },
  {
    file: 'private/help',
    examples: [undefined, 'flags', 'verbs', 'profiles', 'batch', 'apply', '--timeout', '--profile'].map((topic) => ({
      name: topic ?? `help, with ${EXAMPLES.length} examples`,
      message: helpMessage(topic),
    })),
  },
  {
    file: 'private/answers',
    examples: [
      { name: 'images', message: imagesMessage(aPolicy(), { rules: [aRule()] }) },
      {
        name: 'images, one with settings',
        message: imagesMessage(aPolicy({ images: { net: NET } }), { rules: [aRule()] }),
      },
      {
        name: 'images, one that no rule allows',
        message: imagesMessage(aPolicy({ images: { net: NET, capture: CAPTURE } }), { rules: [aRule()] }),
      },
      {
        name: 'images, one of which seizes its target',
        message: imagesMessage(aPolicy({ images: { blackbox: BLACKBOX } }), {
          rules: [aRule({ classes: ['intrusive'], traces: true })],
        }),
      },
      {
        name: 'images, of which no rule allows any',
        message: imagesMessage(aPolicy({ images: { capture: CAPTURE } }), { rules: [aRule()] }),
      },
      { name: 'whoami', message: whoAmIMessage(WHO) },
      { name: 'whoami in a channel without a policy', message: whoAmIMessage({ ...WHO, rules: undefined }) },
      { name: 'can-i: yes', message: canIMessage(aPlan(), { kind: 'allow', rule: 'look' }, []) },
      {
        name: 'can-i: no',
        message: canIMessage(
          aPlan(),
          { kind: 'deny', code: 'class_not_allowed', rule: 'look', subject: 'elevated' },
          [],
        ),
      },
      {
        name: 'a dry run',
        message: rehearsalMessage(
          aRun({ plan: aPlan(), decision: { kind: 'allow', rule: 'look' } }),
          {
            accepted: true,
            cluster: 'The API server would accept it.',
            patch: '{"spec":{}}',
          },
          [],
        ),
      },
    ],
  },
];
