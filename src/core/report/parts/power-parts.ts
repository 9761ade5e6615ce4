import { formatCount } from '../../../lib/duration.ts';
import { visible, visibleLines } from '../../../lib/invisible.ts';
import type { Batch } from '../../batch/batch.ts';
import { quoteWord } from '../../command/print.ts';
import type { EnvVar } from '../../container/ephemeral-container.ts';
import { isPinned } from '../../container/names.ts';
import type { Plan } from '../../container/plan.ts';
import type { ReasonCode } from '../../errors.ts';
import { canonicalJson } from '../../hash.ts';
import { redactEnv, redactWords } from '../log/redact-text.ts';
import { code, type Fact, type Part, type Span, text } from '../message.ts';

/** One container as it is asked for, whatever the words were that asked for it. */
interface AskedContainer extends Pick<Plan, 'image' | 'command' | 'argumentsOnly' | 'env' | 'label'> {
  /** The containers that it joins, by pod; undefined among them stands for none. Absent: it is said elsewhere. */
  readonly targets?: readonly (string | undefined)[];
  /** The profiles and users that it runs with, by pod. Absent: they are said elsewhere. */
  readonly powers?: readonly string[];
}

/** What somebody decides on: one plan, or all of a batch. */
interface Asked {
  readonly plan?: Plan;
  readonly batch?: Pick<Batch, 'variants'>;
}

/**
 * What a person who decides must see of each container: what it runs, what it joins, and every variable, never cut. Words stand in
 * quotes where their borders would not show, and no character hides.
 */
export function powerParts(asked: Asked): readonly Part[] {
  const containers = containersOf(asked).map((each) => (hidesSecret(each) ? withoutSecrets(each) : each));
  return containers.flatMap((container) => partsOf(container, containers.length > 1));
}

function containersOf({ plan, batch }: Asked): readonly AskedContainer[] {
  if (!batch) return plan ? [plan] : [];
  return (batch.variants[0] ?? []).map((template, index) => ({
    ...template,
    targets: batch.variants.map((variant) => variant[index]?.targetContainerName),
    powers: batch.variants.flatMap((variant) => variant.slice(index, index + 1).map(powerText)),
  }));
}

/** `restricted as 1000:1000`: the same profile sees its target as one user, and not as another. */
function powerText({ profile, securityContext }: Pick<Plan, 'profile' | 'securityContext'>): string {
  const { runAsUser, runAsGroup = 0 } = securityContext ?? {};
  return runAsUser === undefined ? profile : `${profile} as ${runAsUser}:${runAsGroup}`;
}

/** The same for a reader who only wants to know: `general (picked automatically), runs as root`. */
export function profileText(plan: Pick<Plan, 'profile' | 'profileAsked' | 'securityContext'>): string {
  const { runAsUser, runAsGroup = 0 } = plan.securityContext ?? {};
  const who = runAsUser === 0 && runAsGroup === 0 ? 'root' : `${runAsUser}:${runAsGroup}`;
  const picked = plan.profileAsked === 'auto' ? ' (picked automatically)' : '';
  return `${plan.profile}${picked}${runAsUser === undefined ? '' : `, runs as ${who}`}`;
}

function partsOf(container: AskedContainer, isOneOfMany: boolean): readonly Part[] {
  const { command, env } = container;
  return [
    { kind: 'facts', facts: powerFacts(container, isOneOfMany), whole: true },
    ...(command.length > 0 ? [whole(command.map((word) => visibleLines(quoteWord(word))).join(' '))] : []),
    ...(env.length > 0 ? [whole(env.map(lineOf).join('\n'))] : []),
  ];
}

const whole = (words: string): Part => ({ kind: 'preformatted', text: words, whole: true });

/** One variable a line: a value of two lines must not look like two variables. */
const lineOf = ({ name, value }: EnvVar): string => `${visible(name)}=${visible(quoteWord(value))}`;

/** A card is read by a channel: it shows no secret, not even one that an older kdebug asked about. */
const withoutSecrets = (container: AskedContainer): AskedContainer => ({
  ...container,
  command: redactWords(container.command, []),
  env: redactEnv(container.env, []),
});

/** Redaction cleans texts as well, which hides nothing on a card: only what it replaced counts. */
function hidesSecret(container: AskedContainer): boolean {
  const marks = (text: string): number => text.split('[redacted:').length;
  return marks(canonicalJson(withoutSecrets(container))) > marks(canonicalJson(container));
}

function powerFacts(
  { label, targets, powers, env, ...container }: AskedContainer,
  isOneOfMany: boolean,
): readonly Fact[] {
  return [
    ...(isOneOfMany && label !== undefined ? [{ label: 'Container', value: [code(visible(label))] }] : []),
    ...(targets ? [{ label: 'Target container', value: [targetSpan(targets)] }] : []),
    ...(powers ? [{ label: 'Runs as', value: [text([...new Set(powers)].join(', '))] }] : []),
    ...(env.length > 0
      ? [{ label: 'Environment', value: [text(`${formatCount(env.length, 'variable')}, below`)] }]
      : []),
    { label: 'Runs', value: runsSpans(container) },
  ];
}

/** The names are DNS labels: a comma is none of theirs. */
const targetSpan = (targets: readonly (string | undefined)[]): Span =>
  code([...new Set(targets)].map((target) => target ?? '(none)').join(', '));

function runsSpans({
  image,
  command,
  argumentsOnly,
}: Pick<Plan, 'image' | 'command' | 'argumentsOnly'>): readonly Span[] {
  const what = argumentsOnly ? ' with the arguments below' : ' with the command below';
  return [
    code(visible(image)),
    ...(isPinned(image) ? [] : [text(' (not pinned to a digest)')]),
    text(command.length === 0 ? ', default command' : what),
  ];
}

/**
 * What a card has room for, in bytes of JSON as Slack may count them (`adapters/slack/limits.ts`): one text of 3,000, and so much
 * that a half of the card is left for the other parts and the buttons.
 */
const MAX_OF_PART = 2_800;
const MAX_OF_CARD = 6_000;
/** JSON around a part, and around a span of it. */
const AROUND_PART = 160;
const AROUND_SPAN = 80;

/**
 * Why a card cannot show all that is decided on; nobody is asked then. A secret is never shown, and a command that a secret hides is
 * one that nobody has seen: whoever asks could hide anything that way.
 */
export function unseenOnCard(asked: Asked): ReasonCode | undefined {
  if (containersOf(asked).some(hidesSecret)) return 'secret_in_command_to_approve';
  return fitsOnCard(asked) ? undefined : 'command_too_long_to_approve';
}

function fitsOnCard(asked: Asked): boolean {
  const weights = powerParts(asked).map(weightOf);
  return weights.every((weight) => weight <= MAX_OF_PART) && weights.reduce((sum, one) => sum + one, 0) <= MAX_OF_CARD;
}

function weightOf(part: Part): number {
  if (part.kind === 'preformatted') return AROUND_PART + weigh(part.text);
  if (part.kind !== 'facts') return 0;
  const spans = part.facts.flatMap(({ label, value }) => [text(label), ...value]);
  return spans.reduce((sum, span) => sum + AROUND_SPAN + weigh('text' in span ? span.text : ''), AROUND_PART);
}

/** At least what one character adds to a message: entities and escapes, and three bytes of UTF-8. */
const weigh = (words: string): number => words.replace(/[&<>"\\\n]/g, '.....').replace(/[^ -~]/g, '...').length;
