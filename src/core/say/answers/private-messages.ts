import { formatCount } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import { sentence, shorten } from '../../../lib/text.ts';
import { verbNear } from '../../command/line/verbs.ts';
import { pointAt } from '../../command/print.ts';
import type { Talk } from '../../command/talk.ts';
import type { ImageClass } from '../../container/image-class.ts';
import { type KdebugError, REASONS, type ReasonCode } from '../../errors.ts';
import { mayBeUsed } from '../../planning/resolve.ts';
import type { ChannelPolicy, ImageAlias, Policy } from '../../policy/policy.ts';
import type { CommandError } from '../../request/command.ts';
import type { Refusal } from '../../request/origin.ts';
import type { Run } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { line, list, message, note, paragraph, preformatted, type Shown } from '../message/line.ts';
import { code, type Message, type Span, strong, time } from '../message/message.ts';
import { askPart } from '../parts/run-buttons.ts';
import { helpMessage } from './help.ts';
import { ownerOf } from './welcome-messages.ts';

/**
 * Explains a refusal: the command, the reason, the rule, what to do, and the run id. If the target is a single unknown
 * word close to a verb, it suggests the verb.
 */
export function refusalMessage(run: Run, refusal: Refusal): Message {
  const rule = refusal.rule === undefined ? [] : line` · rule ${code(refusal.rule)}`;
  return message({ summary: `Not started: ${refusal.message}`, tone: 'failure', code: refusal.code }, [
    paragraph`${strong('Not started: ')}${whyNot(run, refusal)}${guessSpans(meantVerb(run)?.name)}`,
    paragraph`${refusal.hint}`,
    askPart(run, refusal),
    note`${code(`${COMMAND} ${run.commandLine}`)}${rule} · run ${run.id}${codeWords(refusal.code)}`,
  ]);
}

const meantVerb = ({ request: { target }, commandLine, plan }: Run) =>
  plan === undefined && target.kind === 'pod' && commandLine === target.name ? verbNear(target.name) : undefined;

/** For a missing pod the cluster's message would only repeat the title. */
function whyNot({ request, plan }: Run, { code: reason, message }: Refusal): readonly Span[] {
  if (reason !== 'pod_not_found' || request.target.kind !== 'pod') return line`${sentence(message)}`;
  const namespace = plan?.namespace ?? request.namespace;
  const where = namespace === undefined ? "this channel's default namespace" : code(namespace);
  return line`There's no pod named ${code(request.target.name)} in ${where}.`;
}

/** A short private answer made of a reason code; `detail` names its subject. */
export function reasonMessage(reason: ReasonCode, detail?: string): Message {
  const { title, hint } = REASONS[reason];
  const headline = sentence(detail ? `${title}: ${detail}` : title);
  return message({ tone: 'failure', code: reason }, [
    paragraph`${strong(headline)}`,
    paragraph`${hint}`,
    codePart(reason),
  ]);
}

/** A refusal before there is a run. */
export const refusalAnswer = ({ code: reason, message: why, hint }: Refusal): Message =>
  message({ summary: sentence(why), tone: 'failure', code: reason }, [
    paragraph`${strong('No: ')}${sentence(why)}`,
    paragraph`${hint}`,
    codePart(reason),
  ]);

/** Reasons that the user cannot fix by changing the request: whoever helps them needs the code. */
const FOR_SUPPORT =
  /^(?:internal_error|audit_|store_|spool_|slack_(?!not_our_team|form_)|usergroup_|log_|cluster_(?:busy|failed|unauth|unreach|forbidden|config))/;

const codeWords = (reason: string): string => (FOR_SUPPORT.test(reason) ? ` · error code ${reason}` : '');

const codePart = (reason: string): Shown => FOR_SUPPORT.test(reason) && note`Error code: ${reason}`;

/**
 * The answer to a request over a limit; nothing was stored. `count` of `max` runs are in use; `retryAtMs`: when there
 * is room again.
 */
export function limitedMessage(
  reason: ReasonCode,
  { count, max, retryAtMs }: { readonly count: number; readonly max: number; readonly retryAtMs?: number },
): Message {
  const headline = LIMITS[reason]?.(max) ?? reasonMessage(reason, `${count} of ${max}`).summary;
  return message({ tone: 'failure', code: reason }, [
    paragraph`${strong(headline)}`,
    retryAtMs === undefined ? paragraph`${REASONS[reason].hint}` : paragraph`Try again ${time(retryAtMs)}.`,
  ]);
}

const LIMITS: Readonly<Partial<Record<ReasonCode, (max: number) => string>>> = {
  limit_per_person: (max) => `You've reached the limit of ${formatCount(max, 'run')} per minute.`,
  limit_runs_per_person: (max) =>
    `You've reached the limit of ${formatCount(max, 'run')} in progress, in all channels together.`,
  limit_pending_per_person: (max) =>
    `You've reached the limit of ${formatCount(max, 'request')} waiting for approval, in all channels together.`,
  limit_per_channel: (max) => `This channel has reached its limit of ${formatCount(max, 'run')} in progress.`,
  limit_per_cluster: (max) => `This cluster has reached its limit of ${formatCount(max, 'run')} in progress.`,
};

/** An error on the way. Details for operators stay in the log. */
export const errorMessage = (error: KdebugError): Message =>
  reasonMessage(error.code, REASONS[error.code].audience === 'user' ? error.detail : undefined);

/** The images that some rule of a channel allows: the default first, each with what it does. Then the names of the others, and whom to ask. */
export function imagesMessage(policy: Policy, channel: ChannelPolicy): Message {
  const isAllowed = (image: ImageAlias): boolean => channel.rules.some((rule) => mayBeUsed(image, rule));
  const isDefault = ({ alias }: ImageAlias): boolean => alias === policy.defaultImage;
  const aliases = Object.values(policy.images);
  const items = aliases
    .filter(isAllowed)
    .toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
    .map(
      (image) =>
        line`${code(image.alias)}${isDefault(image) && ' (default)'} — ${imageSentence(image)}${image.traces === true && TRACES}${settingSpans(image)}`,
    );
  const others = aliases.filter((image) => !isAllowed(image)).map(({ alias }) => alias);
  const title =
    items.length > 0
      ? 'Images you can use with --image'
      : aliases.length === 0
        ? 'The policy names no images.'
        : 'No rule of this channel allows any image.';
  return message({ tone: 'neutral' }, [
    paragraph`${strong(title)}`,
    list(items),
    others.length > 0 && paragraph`Not allowed here: ${others.join(', ')}. For a rule ask ${ownerOf(policy, channel)}.`,
  ]);
}

const TRACES = ' It seizes its target (ptrace), as a debugger does.';

const settingSpans = ({ settings = [] }: ImageAlias): readonly Span[] =>
  settings.flatMap((name, at) => line`${at === 0 ? ' Settings: ' : ', '}${code(`--env=${name}=…`)}`);

/** Describes an image by the policy's own words, else by its settings. At most 120 characters. */
export function imageSentence({ description, diagnostic, command, class: harm }: ImageAlias): string {
  if (description !== undefined) return sentence(visible(description));
  const what = diagnostic
    ? 'Diagnoses the pod and reports what is wrong'
    : command === 'allowed'
      ? 'Runs the command that you write after --'
      : 'Runs its own command';
  return `${what}; ${HARM[harm]}.`;
}

const HARM: Readonly<Record<ImageClass, string>> = {
  observe: 'it only reads',
  intrusive: 'it may slow or change the workload',
  elevated: 'it has more power than the workload',
};

/** Says which of the typed words were ignored, and why. */
export const notesMessage = (notes: readonly string[]): Message =>
  message(
    { summary: notes.join(' '), tone: 'neutral' },
    notes.map((each) => paragraph`${each}`),
  );

/** Shows the error in a command, with a caret under the wrong word. */
export const commandErrorMessage = (error: CommandError): Message =>
  message({ tone: 'failure' }, [
    paragraph`${error.message}`,
    preformatted(pointAt(error)),
    paragraph`${error.hint}`,
    note`Nothing was started.${!namesHelp(error) && ` Type ${COMMAND} help for what you can do.`}`,
  ]);

const namesHelp = ({ hint = '' }: CommandError): boolean => hint.includes(`${COMMAND} help`);

const MAX_WORD_LENGTH = 60;

/** The answer to words that are no command: what was not understood, the verb that was probably meant, and the help. */
export function talkMessage({ first, request, guess }: Talk, namespace: string | undefined): Message {
  const word = shorten(first, MAX_WORD_LENGTH);
  const where = namespace === undefined ? [] : line` in ${code(namespace)}`;
  const unknown = request
    ? line`I don't know a pod named ${code(word)}${where}.`
    : line`I don't understand ${code(word)}.`;
  const summary = request ? `I don't know a pod named ${word}.` : `I don't understand “${word}”`;
  return message({ summary, tone: 'neutral' }, [paragraph`${unknown}${guessSpans(guess?.name)}`, helpMessage().parts]);
}

/** Ends a sentence with ` Did you mean list?`. */
const guessSpans = (verb: string | undefined): readonly Span[] =>
  verb === undefined ? [] : line` Did you mean ${code(verb)}?`;
