import { isPinned } from '../command/image-reference.ts';
import type { EnvVar } from '../container/ephemeral-container.ts';
import type { Plan } from '../container/plan.ts';
import { formatCount } from './duration.ts';
import { redactEnv, redactWords } from './log/redact-text.ts';
import { code, type Fact, type Part, type Span, text } from './message.ts';

/** One container as it is asked for, whatever the words were that asked for it. */
export interface AskedContainer extends Pick<Plan, 'image' | 'command' | 'argumentsOnly' | 'env' | 'label'> {
  /** The containers that it joins, by pod; undefined among them stands for none. Absent: it is said elsewhere. */
  readonly targets?: readonly (string | undefined)[];
}

/**
 * What a person who decides must see of each container: what it runs, what it joins, and every variable. Each in parts of its own,
 * so that a long command crowds nothing else out of the card.
 */
export function powerParts(asked: readonly AskedContainer[]): readonly Part[] {
  const containers = asked.map(withoutSecrets);
  const room = MOST_ENV / Math.max(1, containers.filter(({ env }) => env.length > 0).length);
  return containers.flatMap((container): readonly Part[] => [
    { kind: 'facts', facts: powerFacts(container, containers.length > 1) },
    ...(container.env.length > 0 ? [{ kind: 'preformatted', text: envText(container.env, room) } as const] : []),
  ]);
}

/** That there is a command, and its words, must be seen; a secret among them need not be. */
const withoutSecrets = (container: AskedContainer): AskedContainer => ({
  ...container,
  command: redactWords(container.command, []),
  env: redactEnv(container.env, []),
});

function powerFacts({ label, targets, env, ...container }: AskedContainer, isOneOfMany: boolean): readonly Fact[] {
  return [
    ...(isOneOfMany && label !== undefined ? [{ label: 'Container', value: [code(label)] }] : []),
    ...(targets ? [{ label: 'Target container', value: targetSpans(targets) }] : []),
    ...(env.length > 0
      ? [{ label: 'Environment', value: [text(`${formatCount(env.length, 'variable')}, below`)] }]
      : []),
    { label: 'Runs', value: runsSpans(container) },
  ];
}

const targetSpans = (targets: readonly (string | undefined)[]): readonly Span[] =>
  [...new Set(targets)].flatMap((target, index) => [
    ...(index === 0 ? [] : [text(', ')]),
    target === undefined ? text('none') : code(target),
  ]);

function runsSpans({
  image,
  command,
  argumentsOnly,
}: Pick<Plan, 'image' | 'command' | 'argumentsOnly'>): readonly Span[] {
  return [
    code(image),
    ...(isPinned(image) ? [] : [text(' (a tag, which may be moved; no digest is pinned)')]),
    text(command.length === 0 ? ' with its own command' : argumentsOnly ? ' with the arguments ' : ' '),
    ...(command.length === 0 ? [] : [code(command.join(' '))]),
  ];
}

/** All variables of a card; a text of Slack's has 3,000 characters, and foreign letters weigh three times as much. */
const MOST_ENV = 1_600;
const LONGEST_VALUE = 120;
/** `=`, the newline, and the mark of a cut. */
const MARK = 16;

/** One variable a line; values are cut, and say so, before a name has no room. */
function envText(env: readonly EnvVar[], room: number): string {
  const names = env.reduce((sum, { name }) => sum + name.length + MARK, 0);
  const most = Math.max(0, Math.min(LONGEST_VALUE, Math.floor((room - names) / env.length)));
  return env.map(({ name, value }) => `${name}=${cut(onOneLine(value), most)}`).join('\n');
}

/** A value of two lines must not look like two variables. */
const onOneLine = (value: string): string => value.replace(/\r\n?|[\n\u0085\u2028\u2029]/g, '⏎');

const cut = (value: string, most: number): string =>
  value.length <= most ? value : `${value.slice(0, most)}… ${formatCount(value.length - most, 'character')} more`;
