import { formatCount } from '../../../lib/duration.ts';
import { visible, visibleLines } from '../../../lib/invisible.ts';
import { quoteWord } from '../../command/print.ts';
import { type ClassFact, classText } from '../../container/class-facts.ts';
import { type FileKind, isSecretKind } from '../../container/file-kinds.ts';
import { isPinned } from '../../container/names.ts';
import type { Plan } from '../../container/plan.ts';
import type { Profile } from '../../container/profiles.ts';
import { LINE_LENGTH } from '../../line-lengths.ts';
import { fact, facts, line, paragraph, preformatted, type Shown, shownParts, whole } from '../message/line.ts';
import { code, type Part, quietPerson, type Span, strong } from '../message/message.ts';
import { typedText } from '../message/typed-text.ts';
import { shortName } from './headline.ts';
import { onceMoreDetails } from './once-more-parts.ts';
import { isWhole, whySpans } from './run-lines.ts';

/** The power of each profile, in words that need no knowledge of Kubernetes. */
export const POWER: Readonly<Record<Profile, string>> = {
  restricted: 'no extra rights',
  baseline: 'the usual rights of a container',
  general: 'may read and trace all processes of the target',
  netadmin: 'may capture and change the network of the pod',
  sysadmin: 'privileged: everything on the node',
};

/** Facts that the words of the profile say already. */
const IN_PROFILE: ReadonlySet<ClassFact> = new Set(['privileged', 'capabilities']);

/** Room for a mention, which Slack shows as a name. */
const NAME_LENGTH = 16;
const MAX_INLINE_LENGTH = 60;

/**
 * The facts about a single run that approvers decide on, in the order in which they need them: who wants to run what
 * and where, why, with which power; then what the first line has no room for. Never cut, and every character is
 * visible.
 */
export function requestParts(plan: Plan): readonly Part[] {
  const { command, env, reason } = plan;
  const what = whatSpans(plan);
  const subject = `${plan.namespace}/${plan.podName}`;
  const isShort = NAME_LENGTH + lengthOf(what) + subject.length + whereText(plan).length + 18 <= LINE_LENGTH;
  const shown = strong(isShort ? subject : shortName(subject));
  const variables = env.map(({ name, value }) => `${visible(name)}=${visible(quoteWord(value))}`);
  return shownParts(
    whole(paragraph`${quietPerson(plan.requesterId)} wants to run ${what} in ${shown}${isShort && whereText(plan)}`),
    reason !== undefined && paragraph`${whySpans(reason)}`,
    whole(paragraph`${accessSpans(plan)}`),
    riskPart([plan]),
    filesPart(plan),
    !isShort && wherePart(plan),
    !isInline(plan) && whole(preformatted(commandText(command))),
    env.length > 0 && whole(preformatted(variables.join('\n'))),
  );
}

/** Explains the class where the profile names alone do not. */
export function riskPart(plans: readonly Pick<Plan, 'class' | 'classReasons'>[]): Shown {
  const risks = plans.flatMap(({ class: judged, classReasons }) => {
    const unsaid = classReasons.filter(({ fact }) => !IN_PROFILE.has(fact));
    return unsaid.length === 0 ? [] : [classText(judged, unsaid)];
  });
  return risks.length > 0 && paragraph`${strong('Risk:')} ${[...new Set(risks)].join(' · ')}`;
}

/** Warns approvers about the files that it hands back: nothing hides a secret in them. */
function filesPart({ files = [], requesterId }: Plan): Shown {
  const secrets = files.filter(isSecretKind).map((kind) => SECRET_FILES[kind] ?? kind);
  if (secrets.length === 0) return [];
  const what = `${secrets.join(' and ')}, which may hold secrets,`;
  return whole(paragraph`${strong('Files:')} may bring back ${what} for ${quietPerson(requesterId)} alone`);
}

const SECRET_FILES: Partial<Record<FileKind, string>> = {
  capture: 'a packet capture',
  heap: 'a heap dump',
};

/** A reason that the card's second line cuts, whole, for below the buttons. */
export const wholeReason = ({ reason }: Plan): Shown =>
  reason !== undefined && !isWhole(reason) && paragraph`${strong('Whole reason:')} ${typedText(reason)}`;

/** The long texts that approvers may want to read whole, for below the buttons. */
export const belowButtons = (plan: Plan): Shown => [wholeReason(plan), onceMoreDetails(plan)];

const commandText = (command: readonly string[]): string =>
  command.map((word) => visibleLines(quoteWord(word))).join(' ');

/**
 * The command goes into the first line if there is room. Other characters and longer gaps are clearer in a block of
 * their own.
 */
function isInline({ command }: Plan): boolean {
  const words = commandText(command);
  return words.length <= MAX_INLINE_LENGTH && PLAIN.test(words) && !words.includes('  ');
}

/** No backslash: it stands for a character that cannot be seen. */
const PLAIN = /^[ -[\]-~]*$/;

function whatSpans(plan: Plan): readonly Span[] {
  const { command, argumentsOnly, imageAlias } = plan;
  if (command.length === 0) return [code(imageAlias)];
  const words = isInline(plan) && code(commandText(command));
  if (argumentsOnly) return line`${code(imageAlias)} with the arguments ${words || 'below'}`;
  return line`${words || 'the command below'}`;
}

const whereText = ({ targetContainerName }: Plan): string =>
  targetContainerName === undefined ? ' (no target container)' : ` (container ${targetContainerName})`;

const lengthOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, span) => sum + ('text' in span ? span.text.length : NAME_LENGTH), 0);

/** The whole names, where the first line shortens them. */
const wherePart = ({ namespace, podName, targetContainerName }: Plan): Part =>
  whole(
    facts(
      fact('Pod', code(`${namespace}/${podName}`)),
      fact('Container', targetContainerName ?? 'no target container'),
    ),
  );

function accessSpans(plan: Plan): readonly Span[] {
  const { profile, securityContext, env } = plan;
  const { runAsUser, runAsGroup = 0 } = securityContext ?? {};
  const user =
    runAsUser === undefined
      ? ''
      : runAsUser === 0 && runAsGroup === 0
        ? ', as root'
        : `, as user ${runAsUser}:${runAsGroup}`;
  const picked = plan.profileAsked === 'auto' && ', picked automatically';
  const below = env.length > 0 && ` · ${formatCount(env.length, 'variable')} below`;
  return line`${strong('Access:')} ${code(profile)} (${POWER[profile]})${user}${picked}${imageSpans(plan)}${below}`;
}

/** The first line names the image unless it has a command instead. */
function imageSpans({ imageAlias, image, command, argumentsOnly }: Plan): readonly Span[] {
  const isNamed = command.length === 0 || argumentsOnly;
  if (isNamed) return isPinned(image) ? [] : line` · image not pinned to a digest`;
  return line` · image ${code(imageAlias)}${!isPinned(image) && ', not pinned to a digest'}`;
}

/** `256Mi` of Kubernetes, as people write it. */
const memoryText = (quantity: string): string => quantity.replace(/^(\d+)([KMGT]i)$/, '$1 $2B');

/** For the small line: what approvers may want to compare. */
export function requestFacts(plan: Plan): readonly string[] {
  const { observed, targetContainerName, image, nodeName, podUid, class: judged } = plan;
  const memory = targetContainerName === undefined ? undefined : observed?.memoryLimit;
  const earlier = observed?.earlierContainers ?? 0;
  return [
    `class ${judged}`,
    visible(image),
    ...(memory === undefined ? [] : [`shares the memory limit of ${memoryText(memory)}`]),
    ...(earlier === 0 ? [] : [formatCount(earlier, 'earlier debug container')]),
    `node ${nodeName}`,
    `pod uid ${podUid}`,
  ];
}
