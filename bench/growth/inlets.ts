import { hasBearer } from '../../src/adapters/http/alerts/authorization.ts';
import { wordsAfterMention } from '../../src/adapters/slack/listeners/mention.ts';
import { codeBlock, messageText, unmarked } from '../../src/adapters/slack/listeners/message-content.ts';
import { parseBody } from '../../src/adapters/slack/receiving/parse-body.ts';
import { clean, cleanLine, escapeText, shorten, shortenMiddle } from '../../src/adapters/slack/views/plain.ts';
import { parseEphemeralJob } from '../../src/config/job-file/parse-job.ts';
import { readLine } from '../../src/core/command/line/line.ts';
import { tokenize } from '../../src/core/command/line/tokenize.ts';
import * as read from '../../src/core/command/line/values.ts';
import { parseCommand } from '../../src/core/command/parse.ts';
import { readPasted, unmarkWords, unwrapWhole } from '../../src/core/command/pasted.ts';
import { pointAt } from '../../src/core/command/print.ts';
import { protectMarkup, repairLine, repairYaml, unwrapMarkup } from '../../src/core/command/repair.ts';
import { talkIn } from '../../src/core/command/talk.ts';
import {
  isCatalogueName,
  isDnsLabel,
  isDnsSubdomain,
  isEnvName,
  nearestName,
  parseImageReference,
} from '../../src/core/container/names.ts';
import { isRunId } from '../../src/core/ids.ts';
import { isLabelKey, isLabelValue, parseSelector } from '../../src/core/request/selector.ts';
import { podInText } from '../../src/core/say/pod-in-text.ts';
import { commandOfForm } from '../../src/core/say/request-form.ts';
import { parseDuration } from '../../src/lib/duration.ts';
import { nearest } from '../../src/lib/text.ts';
import { HUGE_COMMANDS } from './commands.ts';
import type { Hostile } from './slow-texts.ts';

/** A function that is given a stranger's words, the file whose expressions it uses, and texts that were slow once or might be. */
export type Inlet = readonly [name: string, file: string, run: (text: string) => unknown, seeds?: readonly Hostile[]];

const COMMAND = 'src/core/command';
const LISTENERS = 'src/adapters/slack/listeners';
const PLAIN = 'src/adapters/slack/views/plain.ts';
const READ = `${COMMAND}/line/values.ts`;
const NAMES = 'src/core/container/names.ts';
const AUTHORIZATION = 'src/adapters/http/alerts/authorization.ts';
const FORM = 'src/core/say/request-form.ts';

const reading = (reader: read.Reader<unknown>) => (value: string) =>
  reader({ value, start: 0, end: value.length }, () => undefined);

const FENCES: readonly Hostile[] = [
  { start: '```', repeat: ' ' },
  { start: '```', repeat: '\t' },
  { start: '```', repeat: '\n' },
  { start: '```json', repeat: ' ' },
  { repeat: '``` ' },
  { repeat: '``' },
];

/** Every function that is given words from Slack, or by a stranger at a port, before anybody has judged them. */
export const INLETS: readonly Inlet[] = [
  [
    'the secret of a notification of alerts',
    AUTHORIZATION,
    (authorization) => hasBearer({ authorization }, 'a-secret-of-32-characters-000000'),
    [
      { start: 'Bearer', repeat: ' ' },
      { start: 'Bearer x', repeat: ' ' },
    ],
  ],
  [
    'the words after a mention',
    `${LISTENERS}/mention.ts`,
    (text) => wordsAfterMention(text, 'U0KDEBUG'),
    [
      { repeat: '<@U0KDEBUG|' },
      { repeat: '<@U0KDEBUG' },
      { start: '<@U0KDEBUG|', repeat: '<' },
      { start: '*<@U0KDEBUG>', repeat: ' ' },
      { start: '*<@U0KDEBUG>', repeat: '*' },
    ],
  ],
  ['a code block', `${LISTENERS}/message-content.ts`, (text) => codeBlock({ text }), FENCES],
  ['the text of a message', `${LISTENERS}/message-content.ts`, (text) => messageText({ text }), [{ repeat: '<' }]],
  ['markup of a message', `${LISTENERS}/message-content.ts`, unmarked, [{ repeat: '<a|' }, { repeat: '|' }]],
  [
    'text for the screen',
    PLAIN,
    clean,
    [
      { start: '\x1b', repeat: ';#' },
      { repeat: '\x1b]' },
      { repeat: '\x90' },
      { repeat: '\x9b' },
      { start: '\x1b[', repeat: ' ' },
    ],
  ],
  ['a line for the screen', PLAIN, cleanLine, [{ start: '\x1b', repeat: ';#' }]],
  ['escaped text', PLAIN, escapeText, [{ repeat: ':a' }, { start: ':', repeat: 'a' }]],
  ['shortened text', PLAIN, (text) => shorten(text, { weight: 3_000, length: 3_000 })],
  ['text shortened in the middle', PLAIN, (text) => shortenMiddle(text, { weight: 3_000, length: 3_000 })],
  [
    'a form body',
    'src/adapters/slack/receiving/parse-body.ts',
    (text) => parseBody(text, 'application/x-www-form-urlencoded'),
    [{ repeat: '&' }, { repeat: '%' }, { repeat: 'a=&' }],
  ],
  [
    'markup of a command',
    `${COMMAND}/repair.ts`,
    unwrapMarkup,
    [{ repeat: '<@' }, { repeat: '<a://' }, { repeat: '<mailto:|' }, { repeat: '\ud800' }],
  ],
  ['protected markup', `${COMMAND}/repair.ts`, protectMarkup, [{ repeat: '<a://|' }]],
  [
    'repair of a line',
    `${COMMAND}/repair.ts`,
    repairLine,
    [{ repeat: '“' }, { repeat: '‘a' }, { repeat: ' —' }, { repeat: "'‘" }, { repeat: '"“ ' }],
  ],
  [
    'repair of YAML',
    `${COMMAND}/repair.ts`,
    repairYaml,
    [
      { repeat: '—' },
      { repeat: '-—' },
      { repeat: '‘' },
      { repeat: '\n \t' },
      { start: '```', repeat: ' ' },
      { repeat: '•' },
      { repeat: ' •\n' },
    ],
  ],
  [
    'marks around words',
    `${COMMAND}/pasted.ts`,
    (text) => [unwrapWhole(text), bareWords(text)],
    ['`', '```', '` ', '`a` ', '*a ', '_', '"', '“ ', '-- `', '--a=`'].flatMap((repeat) => [
      { repeat },
      { start: 'web -- `', repeat },
      { start: '`', repeat },
    ]),
  ],
  [
    'what was pasted',
    `${COMMAND}/pasted.ts`,
    readPasted,
    [
      { repeat: 'kdebug ' },
      { start: 'kdebug', repeat: ' ' },
      { start: '$', repeat: ' ' },
      { start: 'kubectl', repeat: ' ' },
    ],
  ],
  [
    'talk',
    `${COMMAND}/talk.ts`,
    (text) => talkIn(text, parseCommand(text)),
    [{ repeat: 'a ' }, { repeat: "it's " }, { repeat: '! ' }, { repeat: '!' }],
  ],
  [
    'words',
    `${COMMAND}/line/tokenize.ts`,
    tokenize,
    [{ repeat: '"' }, { repeat: "a'" }, { repeat: '\\' }, { repeat: '\\\n' }, { repeat: 'a"b"' }],
  ],
  [
    'a command',
    `${COMMAND}/parse.ts`,
    parseCommand,
    [...HUGE_COMMANDS, { repeat: 'apply ' }, { start: 'apply', repeat: '`` ' }, { start: 'apply\n', repeat: '- a: ' }],
  ],
  ['the command after --', `${COMMAND}/line/request.ts`, (text) => parseCommand(`p -- ${text}`)],
  [
    'the flags of a line',
    `${COMMAND}/line/line.ts`,
    flagsOf,
    [{ repeat: '--env=A=b ' }, { repeat: '--' }, { repeat: '-n ' }],
  ],
  [
    'the caret under an error',
    `${COMMAND}/print.ts`,
    (text) => pointAt({ code: 'env_invalid', message: '', text, start: text.length - 1, end: text.length }),
  ],
  ['an image reference', NAMES, parseImageReference, [{ repeat: 'a' }, { repeat: 'a-' }, { repeat: 'a.b/' }]],
  ['an image', READ, reading(read.readImage)],
  ['a variable', READ, reading(read.readEnv), [{ repeat: 'A=' }, { repeat: 'a.' }]],
  ['a reason', READ, reading(read.readReason), [{ repeat: ' ' }, { start: 'a', repeat: ' \n' }]],
  ['a profile', READ, reading(read.readProfile)],
  ['a run id', 'src/core/ids.ts', (text) => [isRunId(text), reading(read.readRunId)(text)]],
  ['a number', READ, reading(read.readReplicas)],
  [
    'a selector',
    'src/core/request/selector.ts',
    (text) => [reading(read.readSelector)(text), parseSelector(text.slice(0, 999))],
  ],
  ['a label', 'src/core/request/selector.ts', (text) => [isLabelKey(text), isLabelValue(text)]],
  ['a duration', 'src/lib/duration.ts', (text) => [parseDuration(text), reading(read.readDuration)(text)]],
  [
    'a name',
    NAMES,
    (text) => [
      isDnsLabel(text),
      isDnsSubdomain(text),
      isEnvName(text),
      isCatalogueName(text),
      nearestName(text, isDnsLabel),
    ],
    [{ repeat: 'a.' }, { repeat: 'a-' }],
  ],
  ['the nearest word', 'src/lib/text.ts', (text) => nearest(text, ['image', 'namespace', 'a'.repeat(40)])],
  [
    'an EphemeralJob',
    'src/config/job-file/job-tree.ts',
    parseEphemeralJob,
    ['#\n', 'a:\n', '- \n', '?\n', ',', '[', '{', '"', '&a ', '*a ', '!a ', '%a\n', '- *a\n', "'"].flatMap((repeat) => [
      { repeat },
      { start: '[', repeat },
      { start: '"', repeat: `\\${repeat}` },
    ]),
  ],
  [
    'the pod in a text',
    FORM,
    podInText,
    [
      { repeat: 'pod ' },
      { start: 'pod', repeat: ' ' },
      { repeat: 'a-' },
      { repeat: 'pod a-1' },
      { repeat: '· run aaaaaaaaaa · : ' },
    ],
  ],
  [
    'the command of a form',
    FORM,
    (text) => commandOfForm({ pod: text, reason: text, command: text }),
    [{ repeat: '"' }],
  ],
];

function flagsOf(text: string): unknown {
  const words = tokenize(text);
  return words.kind === 'ok' ? readLine(words.words, text.length) : undefined;
}

function bareWords(text: string): unknown {
  const words = tokenize(text);
  return words.kind === 'ok' ? unmarkWords(words.words, text) : undefined;
}

/** Readers of texts whose parts all differ. */
export const DISTINCT: readonly (readonly [name: string, run: (text: string) => unknown])[] = [
  ['variables of a command, each another', (text) => parseCommand(distinctFlags(text.length))],
  ['keys of an EphemeralJob, each another', (text) => parseEphemeralJob(distinctKeys(text.length))],
];

/** As many variables, each of another name, as fit into a line of `length`. */
function distinctFlags(length: number): string {
  let line = 'p';
  for (let index = 0; line.length < Math.min(length, 15_900); index += 1) line += ` --env=A${index}=`;
  return line;
}

/** As many keys, each another, as fit into `length`. */
function distinctKeys(length: number): string {
  let text = '';
  for (let index = 0; text.length < length; index += 1) text += `${index.toString(36)}:\n`;
  return text;
}
