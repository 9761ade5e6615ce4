import { parseArgs } from 'node:util';
import { loadPolicy } from '../config/load-policy.ts';
import { DEFAULT_PARALLELISM } from '../core/batch/new-batch.ts';
import { parseCommand } from '../core/command/parse.ts';
import { pointAt, printCommand } from '../core/command/print.ts';
import { buildEphemeralContainer } from '../core/container/build.ts';
import { classText } from '../core/container/class-facts.ts';
import type { EphemeralContainer } from '../core/container/ephemeral-container.ts';
import type { Plan } from '../core/container/plan.ts';
import type { Pod } from '../core/container/pod.ts';
import { REASONS, type ReasonCode } from '../core/errors.ts';
import { asChannelId, asRunId, asUserId } from '../core/ids.ts';
import { identityFor, isRefusedUnmapped, subjectFor } from '../core/planning/identity.ts';
import { aimOf, planRequest, type Requester } from '../core/planning/plan-request.ts';
import { resolveImage, resolveNamespace } from '../core/planning/resolve.ts';
import { TARGET_LOG_WORDS, targetLogOf } from '../core/planning/target-log.ts';
import type { Decision, Policy } from '../core/policy/policy.ts';
import type { RunRequest } from '../core/request/command.ts';
import { DEFAULT_NAMES, withNames } from '../core/shown-names.ts';

const USAGE = `usage: explain 'COMMAND' --channel C… --user U… --policy FILE [--team T…]
  COMMAND is what one types in Slack, with or without the slash command's name; if it begins with a dash, put it last, after --
  for alerts: explain --alert FILE --source NAME --policy FILE`;

/**
 * Explains what a policy file makes of a command, without Slack or a cluster, for an imagined pod. Returns the exit
 * code: 0 allowed, or allowed with an approval; 1 denied; 2 wrong arguments, command or policy.
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

/** The request in a command; undefined after printing what is wrong. */
function readRequest(command: string, out: (line: string) => void): RunRequest | undefined {
  const parsed = parseCommand(command);
  if (parsed.kind === 'error') {
    const { error } = parsed;
    for (const line of [pointAt(error), error.message, ...(error.hint === undefined ? [] : [error.hint])])
      out(withNames(line, DEFAULT_NAMES));
    return undefined;
  }
  if (parsed.command.kind === 'run' || parsed.command.kind === 'can-i') return parsed.command.request;
  out(`${parsed.command.kind} debugs no pod, so the policy has nothing to decide`);
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
  row('place', explained.location);
  row('image', explained.image);
  row('profile', explained.profile);
  row('class', explained.class);
  row('own log', explained.targetLog);
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
  row(
    'assumed',
    'a running Linux pod in a namespace that enforces no Pod Security level; <…> is unknown until the launch',
  );
  out(JSON.stringify(explained.container, null, 2));
  return 0;
}

export function sentenceOf(code: ReasonCode, subject: string): string {
  const { title, hint } = withNames(REASONS[code], DEFAULT_NAMES);
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

/** A policy's view of a request, as text; absent fields follow a denial. */
export interface Explained {
  readonly location?: string;
  readonly image?: string;
  readonly profile?: string;
  /** The class of the launch, and the facts that raised it. */
  readonly class?: string;
  /** The right of a diagnosis to read the pods' own logs. */
  readonly targetLog?: string;
  readonly identity: string;
  readonly decision: Decision;
  /** For the imagined pod; absent after a denial. */
  readonly container?: EphemeralContainer;
}

function explainRequest(request: RunRequest, requester: Requester, policy: Policy): Explained {
  const known = { identity: identityText(policy, requester), ...destinationText(request, requester, policy) };
  const aim = aimOf(request, requester, policy);
  if (aim.kind === 'deny') return { ...known, decision: aim };
  const pod = imaginedPod(request, aim.namespace);
  const inputs = { request, origin: requester, policy, aim, level: 'privileged' } as const;
  const planned = planRequest(pod, inputs, sizeOf(request));
  if (planned.kind === 'deny') return { ...known, decision: planned };
  const { plan, decision } = planned;
  const targetLog = `a diagnosis reads ${TARGET_LOG_WORDS[targetLogOf(policy, requester, plan, { isShared: false })]}; in a channel that another company shares ${TARGET_LOG_WORDS[targetLogOf(policy, requester, plan, { isShared: true })]}`;
  const profile = request.profile === plan.profile ? plan.profile : `${plan.profile} (asked: ${request.profile})`;
  const explained = { ...known, profile, targetLog, class: classText(plan.class, plan.classReasons), decision };
  return decision.kind === 'deny' ? explained : { ...explained, container: containerOf(plan, decision) };
}

function destinationText(request: RunRequest, { channelId }: Requester, policy: Policy) {
  const resolved = resolveNamespace(request, channelId, policy);
  if (resolved.kind === 'deny') return {};
  const location = `cluster ${resolved.cluster}, namespace ${resolved.namespace}`;
  const image = resolveImage(request.image, policy);
  if (image.kind === 'deny') return { location };
  const { alias, reference, class: imageClass, command } = image.alias;
  return { location, image: `${alias}: ${reference} (${imageClass}, command ${command})` };
}

function identityText(policy: Policy, requester: Requester): string {
  if (isRefusedUnmapped(policy.identity, requester.requesterId)) return 'nobody: identity.users does not name them';
  const identity = identityFor(policy.identity, requester);
  const subject = subjectFor(policy.identity, requester.requesterId);
  if (subject) return `kdebug's own account, where ${subject.user} may do the same`;
  if (!identity) return "kdebug's own account";
  return [identity.user, ...identity.groups.map((group) => `group ${group}`)].join(', ');
}

/** Only the cluster knows how many pods a batch has; assume two, the smallest batch. A comparison is decided as one pod. */
const sizeOf = ({ target, batch }: RunRequest) => ({
  pods: target.kind === 'pod' || target.kind === 'compare' ? 1 : (batch.replicas ?? 2),
  parallelism: batch.parallelism ?? DEFAULT_PARALLELISM,
});

export function imaginedPod({ target, targetContainer }: RunRequest, namespace: string): Pod {
  const name = target.kind === 'pod' ? target.name : '<pod>';
  const container = targetContainer?.kind === 'named' ? targetContainer.name : '<target>';
  return {
    metadata: {
      name,
      namespace,
      uid: '<uid>',
      resourceVersion: '',
      creationTimestamp: '',
      labels: {},
      annotations: {},
      ownerReferences: [],
    },
    spec: {
      nodeName: '<node>',
      shareProcessNamespace: false,
      hostPID: false,
      hostIPC: false,
      hostNetwork: false,
      securityContext: {},
      containers: [{ name: container, image: '', securityContext: {} }],
      initContainers: [],
      ephemeralContainers: [],
    },
    status: { phase: 'Running', containerStatuses: [], initContainerStatuses: [], ephemeralContainerStatuses: [] },
  };
}

function containerOf(plan: Plan, decision: Decision): EphemeralContainer {
  const approverIds = decision.kind === 'needs-approval' ? ['<approvers>'] : [];
  const built = buildEphemeralContainer(plan, { runId: asRunId('<run>'), approverIds, notAfterMs: 0, ref: '<sealed>' });
  const env = built.env.map((each) => (each.name === 'KDEBUG_NOT_AFTER' ? { ...each, value: '<time>' } : each));
  return { ...built, name: 'kdebug-<id>', env };
}
