import { parseArgs } from 'node:util';
import { loadPolicy } from '../config/load-policy.ts';
import { pointAt } from '../core/command/caret.ts';
import type { RunRequest } from '../core/command/command.ts';
import { parseCommand } from '../core/command/parse.ts';
import { printCommand } from '../core/command/print.ts';
import { REASONS, type ReasonCode } from '../core/errors.ts';
import { asChannelId, asUserId } from '../core/ids.ts';
import type { Requester } from '../core/policy/plan-request.ts';
import type { Policy } from '../core/policy/policy.ts';
import { explainRequest } from './explain-request.ts';

const USAGE = `usage: explain 'COMMAND' --channel C… --user U… --policy FILE [--team T…]
  COMMAND is what would be typed after /kdebug; one that begins with a dash goes to the end, after --`;

/**
 * Says what a policy file makes of a command, without Slack and without a cluster: about a pod that nobody has looked at.
 * Answers with the exit code: 0 allowed, or allowed with an approval; 1 denied; 2 for wrong words, a wrong command or a wrong policy.
 */
export function explain(words: readonly string[], out: (line: string) => void): number {
  const read = readWords(words);
  if (!read) {
    out(USAGE);
    return 2;
  }
  const loaded = loadPolicy(read.path);
  if (loaded.kind === 'invalid') {
    for (const problem of loaded.problems) out(problem);
    return 2;
  }
  const request = readRequest(read.command, out);
  return request ? print(request, { requester: read.requester, policy: loaded.policy }, out) : 2;
}

/** The request in a command; undefined after having said what is wrong with it. */
function readRequest(command: string, out: (line: string) => void): RunRequest | undefined {
  const parsed = parseCommand(command.replace(/^\s*\/kdebug(?=\s|$)/, ''));
  if (parsed.kind === 'error') {
    const { error } = parsed;
    for (const line of [pointAt(error), error.message, ...(error.hint === undefined ? [] : [error.hint])]) out(line);
    return undefined;
  }
  if (parsed.command.kind === 'run' || parsed.command.kind === 'can-i') return parsed.command.request;
  out(`${parsed.command.kind} debugs no pod: there is nothing for a policy to decide`);
  return undefined;
}

function print(
  request: RunRequest,
  { requester, policy }: { readonly requester: Requester; readonly policy: Policy },
  out: (line: string) => void,
): number {
  const explained = explainRequest(request, requester, policy);
  const row = (name: string, value: string | undefined) => value !== undefined && out(`${name.padEnd(10)}${value}`);
  row('command', printCommand({ kind: 'run', request }));
  row('place', explained.place);
  row('image', explained.image);
  row('profile', explained.profile);
  row('class', explained.class);
  row('acts as', explained.identity);
  const { decision } = explained;
  if (decision.kind === 'deny') {
    const { code, rule, subject } = decision;
    row('decision', `denied${rule === undefined ? '' : `; nearest rule: ${rule}`} (${code})`);
    row('', sentenceOf(code, subject));
    return 1;
  }
  if (decision.kind === 'allow') row('decision', `allowed by rule ${decision.rule}`);
  else {
    const { from, count, voteReason } = decision.approval;
    const reason = voteReason === 'required' ? ', with a reason' : '';
    row('decision', `needs approval by rule ${decision.rule}: ${count} of ${from.join(', ')}${reason}`);
  }
  row('assumed', 'a running Linux pod in a namespace that enforces no Pod Security level; <…> is not known yet');
  out(JSON.stringify(explained.container, null, 2));
  return 0;
}

function sentenceOf(code: ReasonCode, subject: string): string {
  const { title, hint } = REASONS[code];
  return `${title}${subject === '' ? '' : `: ${subject}`}. ${hint}`;
}

interface Words {
  readonly command: string;
  readonly path: string;
  readonly requester: Requester;
}

function readWords(words: readonly string[]): Words | undefined {
  const read = parsed(words);
  const [command, ...others] = read?.positionals ?? [];
  if (!read || command === undefined || others.length > 0) return undefined;
  const { channel = '', user = '', team, policy: path } = read.values;
  const valid = /^[CGD][A-Z0-9]{2,20}$/.test(channel) && /^[UW][A-Z0-9]{2,20}$/.test(user);
  if (!valid || path === undefined || (team !== undefined && !/^[TE][A-Z0-9]{2,20}$/.test(team))) return undefined;
  const requester = { channelId: asChannelId(channel), requesterId: asUserId(user), teamId: team ?? '<team>' };
  return { command, path, requester };
}

function parsed(words: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...words],
      options: { channel: text, user: text, team: text, policy: text },
      allowPositionals: true,
    });
  } catch {
    return undefined;
  }
}
