import { formatDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import { quoteWord } from '../../command/print.ts';
import { classText } from '../../container/class-facts.ts';
import type { Carrier, OnceMore } from '../../container/once-more.ts';
import type { Plan } from '../../container/plan.ts';
import { hidesPart } from '../../redact/redact-text.ts';
import { fact, facts, line, paragraph, rows, type Shown, shownParts, whole } from '../message/line.ts';
import { code, type Fact, type Part, quietPerson, strong } from '../message/message.ts';
import { shortName } from './headline.ts';
import { allNames, revisionPart, switchesOf } from './once-more-words.ts';
import { whySpans } from './run-lines.ts';

type SecondRun = Plan & { readonly onceMore: OnceMore };

export const isSecondRun = (plan: Plan): plan is SecondRun => plan.onceMore !== undefined;

/**
 * The facts about a second run of a program that approvers need first: what runs where, that it runs beside its pod, and
 * with which power. The rest is below the buttons (`onceMoreDetails`).
 */
export function onceMoreParts(plan: SecondRun): readonly Part[] {
  const { onceMore, namespace, podName, image, reason } = plan;
  // The first reason is the sentence below.
  const risks = plan.classReasons.filter(({ fact: risk }) => risk !== 'second-run');
  const program = code(onceMore.container);
  const subject = strong(shortName(`${namespace}/${podName}`));
  return shownParts(
    whole(paragraph`${quietPerson(plan.requesterId)} wants to run the program of ${program} once more in ${subject}`),
    reason !== undefined && paragraph`${whySpans(reason)}`,
    whole(paragraph`${strong('The program runs a second time beside its pod.')} ${watchedWords(plan)}`),
    plan.observed?.withholdsLog &&
      whole(
        paragraph`${strong('This channel will read what the program writes')}, also where its rule keeps the log of ${program} from it (targetLog).`,
      ),
    revisionPart(plan),
    risks.length > 0 && paragraph`${strong('Risk:')} ${classText(plan.class, risks)}`,
    whole(facts(fact('Pod', code(`${namespace}/${podName}`)), fact('Image', code(visible(image))))),
  );
}

/**
 * The command and settings of the second run, for approvers, never cut: whoever makes the pod chooses them. No value of a variable of the
 * pod is among them.
 */
export function onceMoreDetails({ onceMore }: Plan): Shown {
  if (!onceMore) return [];
  // Three parts, so that each has the room of one.
  return [reachFacts(onceMore), commandFacts(onceMore), nameFacts(onceMore)].map((each) => whole(facts(each)));
}

/** All of it, for the details of a run. */
export const onceMoreFacts = (onceMore: OnceMore): readonly Fact[] => [
  ...rows(fact('Runs once more', code(onceMore.container))),
  ...reachFacts(onceMore),
  ...commandFacts(onceMore),
  ...nameFacts(onceMore),
];

const reachFacts = (onceMore: OnceMore): readonly Fact[] =>
  rows(
    fact('Service account', onceMore.serviceAccount),
    fact('User', userText(onceMore)),
    fact('Mounts', allNames(onceMore.mounts, 'none')),
    onceMore.carrier && fact('Tracer', tracerText(onceMore.carrier)),
    onceMore.unmountable.length > 0 && fact('Not mounted (subPath)', allNames(onceMore.unmountable, '')),
  );

const commandFacts = (onceMore: OnceMore): readonly Fact[] =>
  rows(
    fact('Command', commandOf(onceMore)),
    [...onceMore.command, ...onceMore.args].some(hidesPart) &&
      fact('Hidden', 'a part of the command, because it looks like a secret'),
  );

const nameFacts = (onceMore: OnceMore): readonly Fact[] =>
  rows(
    fact('Environment', allNames(variablesOf(onceMore), 'no variables')),
    onceMore.withoutEnv.length > 0 && fact('Left out', allNames(onceMore.withoutEnv, '')),
    fact('Added', switchesOf(onceMore)),
  );

const tracerText = ({ image, volume }: Carrier) =>
  line`${code(visible(image))}, copied into the emptyDir ${visible(volume)}`;

const userText = ({ user }: OnceMore): string => {
  if (user === undefined) return 'as its image says';
  return user === 0 ? '0 (root)' : String(user);
};

const watchedWords = ({ onceMore: { carrier }, timeoutMs }: SecondRun): string =>
  carrier
    ? `A tracer starts it, tells how it ends, and ends it after ${formatDuration(carrier.endsAfterMs)}.`
    : `kdebug watches it for ${formatDuration(timeoutMs)}, and cannot stop it: it ends by itself, or with its pod.`;

/** Variables that a whole ConfigMap or Secret gives have no names in the pod's spec. */
const variablesOf = ({ variables, withoutEnv, sources }: OnceMore): readonly string[] => [
  ...variables.filter((name) => !withoutEnv.includes(name)),
  ...sources.map((source) => `all of ${source}`),
];

function commandOf({ command, args, revision }: OnceMore) {
  if (command.length + args.length === 0)
    return `the default command of ${revision === undefined ? 'its' : 'that'} image`;
  const words = [...command, ...args];
  const whose = command.length === 0 && ' as arguments of the image’s own command';
  return line`${code(visible(words.map(quoteWord).join(' ')))}${whose}`;
}
