import { formatCount } from '../../../lib/duration.ts';
import { visible, visibleLines } from '../../../lib/invisible.ts';
import type { Batch } from '../../batch/batch.ts';
import { quoteWord } from '../../command/print.ts';
import type { EnvVar } from '../../container/ephemeral-container.ts';
import { isPinned } from '../../container/names.ts';
import type { Plan } from '../../container/plan.ts';
import type { ReasonCode } from '../../errors.ts';
import { canonicalJson } from '../../hash.ts';
import { mayHideScript, redactEnv, redactWords } from '../../redact/redact-text.ts';
import { fact, facts, line, preformatted, rows, type Shown, shownParts, whole } from '../message/line.ts';
import { code, type Fact, type Part, type Span, text } from '../message/message.ts';
import { isSecondRun, onceMoreDetails, onceMoreParts } from './once-more-parts.ts';
import { POWER, requestParts, riskPart } from './request-parts.ts';

/** One requested container, whether it comes from a command or an EphemeralJob. */
interface RequestedContainer extends Pick<Plan, 'image' | 'command' | 'argumentsOnly' | 'env' | 'label'> {
  /** The container that it joins, per pod; undefined entries mean none. Absent if the message shows it elsewhere. */
  readonly targets?: readonly (string | undefined)[];
  /** The profile and user that it runs with, per pod. Absent if the message shows them elsewhere. */
  readonly powers?: readonly string[];
}

/** The subject of an approval: one plan, or a whole batch. */
interface ForApproval {
  readonly plan?: Plan;
  readonly batch?: Pick<Batch, 'variants'>;
}

/**
 * The facts about each container that approvers must see, never cut: its command, its target, and every variable.
 * Quotes show where ambiguous words end, and every character is visible.
 */
export function powerParts(request: ForApproval): readonly Part[] {
  const { plan, batch } = request;
  if (plan && isSecondRun(plan)) return onceMoreParts(plan);
  if (plan && !batch) return requestParts(hidesSecret(plan) ? withoutSecrets(plan) : plan);
  const containers = containersOf(request).map((each) => (hidesSecret(each) ? withoutSecrets(each) : each));
  const parts = containers.map((container) => partsOf(container, containers.length > 1));
  return shownParts(parts, batch && riskPart(batch.variants.flat()));
}

function containersOf({ plan, batch }: ForApproval): readonly RequestedContainer[] {
  if (!batch) return plan ? [plan] : [];
  return (batch.variants[0] ?? []).map((template, index) => ({
    ...template,
    targets: batch.variants.map((variant) => variant[index]?.targetContainerName),
    powers: batch.variants.flatMap((variant) => variant.slice(index, index + 1).map(powerText)),
  }));
}

/** `restricted (no extra rights) as user 1000:1000`: the same profile with another user may not see its target. */
function powerText({ profile, securityContext }: Pick<Plan, 'profile' | 'securityContext'>): string {
  const { runAsUser, runAsGroup = 0 } = securityContext ?? {};
  const words = `${profile} (${POWER[profile]})`;
  return runAsUser === undefined ? words : `${words} as user ${runAsUser}:${runAsGroup}`;
}

/** The shorter form for readers: `general (picked automatically), runs as root`. */
export function profileText(plan: Pick<Plan, 'profile' | 'profileAsked' | 'securityContext' | 'onceMore'>): string {
  if (plan.onceMore) return `with the rights of ${plan.onceMore.container}`;
  const { runAsUser, runAsGroup = 0 } = plan.securityContext ?? {};
  const who = runAsUser === 0 && runAsGroup === 0 ? 'root' : `user ${runAsUser}:${runAsGroup}`;
  const picked = plan.profileAsked === 'auto' ? ' (picked automatically)' : '';
  return `${plan.profile}${picked}${runAsUser === undefined ? '' : `, runs as ${who}`}`;
}

function partsOf(container: RequestedContainer, isOneOfMany: boolean): Shown {
  const { command, env } = container;
  return [
    whole(facts(powerFacts(container, isOneOfMany))),
    command.length > 0 && whole(preformatted(command.map((word) => visibleLines(quoteWord(word))).join(' '))),
    env.length > 0 && whole(preformatted(env.map(lineOf).join('\n'))),
  ];
}

/** One line per variable: a value of two lines must not look like two variables. */
const lineOf = ({ name, value }: EnvVar): string => `${visible(name)}=${visible(quoteWord(value))}`;

/** A whole channel reads the card, so it shows no secret, not even in a request that an older kdebug accepted. */
const withoutSecrets = <Container extends RequestedContainer>(container: Container): Container => ({
  ...container,
  command: redactWords(container.command, []),
  env: redactEnv(container.env, []),
});

/** Redaction also cleans texts, which hides nothing here: only its replacements count. */
function hidesSecret(container: RequestedContainer): boolean {
  const marks = (text: string): number => text.split('[redacted:').length;
  return marks(canonicalJson(withoutSecrets(container))) > marks(canonicalJson(container));
}

function powerFacts(
  { label, targets, powers, env, ...container }: RequestedContainer,
  isOneOfMany: boolean,
): readonly Fact[] {
  return rows(
    isOneOfMany && label !== undefined && fact('Container', code(visible(label))),
    powers && fact('Access', [...new Set(powers)].join(', ')),
    targets && fact('Target container', targetSpan(targets)),
    env.length > 0 && fact('Environment', `${formatCount(env.length, 'variable')}, below`),
    fact('Runs', runsSpans(container)),
  );
}

/** The names are DNS labels, so they contain no comma. */
const targetSpan = (targets: readonly (string | undefined)[]): Span =>
  code([...new Set(targets)].map((target) => target ?? '(none)').join(', '));

function runsSpans({
  image,
  command,
  argumentsOnly,
}: Pick<Plan, 'image' | 'command' | 'argumentsOnly'>): readonly Span[] {
  const what = argumentsOnly ? ' with the arguments below' : ' with the command below';
  const pin = !isPinned(image) && ' (not pinned to a digest)';
  return line`${code(visible(image))}${pin}${command.length === 0 ? ', default command' : what}`;
}

/**
 * The room on a card, in bytes of JSON as Slack may count them (`adapters/slack/limits.ts`): one text of 3,000, and
 * half of the card for the other parts and the buttons.
 */
const MAX_PART_BYTES = 2_800;
const MAX_CARD_BYTES = 6_000;
/** JSON around a part, and around a span in it. */
const PART_OVERHEAD_BYTES = 160;
const SPAN_OVERHEAD_BYTES = 80;

/**
 * Returns the reason why a card cannot show everything that has to be decided; then the request is refused. A secret is
 * never shown, and nobody could approve the part of a command that a secret hides: a requester could hide anything that
 * way. Of the command of a pod, which has them for other reasons, an argument may be hidden, and the card says so.
 */
export function unseenOnCard(request: ForApproval): ReasonCode | undefined {
  const { command = [], args = [] } = request.plan?.onceMore ?? {};
  if (containersOf(request).some(hidesSecret) || [...command, ...args].some(mayHideScript))
    return 'secret_in_command_to_approve';
  if (fitsOnCard(request)) return undefined;
  return request.plan?.onceMore ? 'once_more_too_long_to_approve' : 'command_too_long_to_approve';
}

function fitsOnCard(request: ForApproval): boolean {
  const details = request.plan ? onceMoreDetails(request.plan) : [];
  const weights = shownParts(powerParts(request), details).map(weightOf);
  return (
    weights.every((weight) => weight <= MAX_PART_BYTES) && weights.reduce((sum, one) => sum + one, 0) <= MAX_CARD_BYTES
  );
}

function weightOf(part: Part): number {
  if (part.kind === 'preformatted') return PART_OVERHEAD_BYTES + weigh(part.text);
  if ((part.kind !== 'facts' && part.kind !== 'paragraph') || part.whole !== true) return 0;
  const spans =
    part.kind === 'paragraph' ? part.spans : part.facts.flatMap(({ label, value }) => [text(label), ...value]);
  return spans.reduce(
    (sum, span) => sum + SPAN_OVERHEAD_BYTES + weigh('text' in span ? span.text : ''),
    PART_OVERHEAD_BYTES,
  );
}

/** The size that characters may reach in a message: entities, escapes, and three bytes of UTF-8. */
const weigh = (words: string): number => words.replace(/[&<>"\\\n]/g, '.....').replace(/[^ -~]/g, '...').length;
