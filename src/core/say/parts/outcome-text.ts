import { own } from '../../../lib/object.ts';
import { sentence } from '../../../lib/text.ts';
import { whyNotPulled } from '../../diagnosis/rules/images.ts';
import { REASONS } from '../../errors.ts';
import { type Outcome, type OutcomeKind, TRACER_MISSING } from '../../outcome.ts';
import { armedWords, tripwireOf } from '../../request/tripwire.ts';
import type { Run } from '../../run/run.ts';
import type { RunState } from '../../run/run-state.ts';
import { COMMAND } from '../../shown-names.ts';
import { line } from '../message/line.ts';
import { person, type Span, type Tone, time } from '../message/message.ts';
import { withoutIds } from './headline.ts';

export interface OutcomeText {
  readonly tone: Tone;
  /** A few words for a heading. */
  readonly title: string;
  /** One sentence on what happened. */
  readonly happened: string;
  /** One sentence on what to do next; may be empty. */
  readonly next: string;
}

type Describe<Kind extends OutcomeKind> = (outcome: Extract<Outcome, { kind: Kind }>) => OutcomeText;

const fixed = (tone: Tone, title: string, happened: string, next: string) => (): OutcomeText => ({
  tone,
  title,
  happened,
  next,
});

/** In a pod at its memory limit, the kernel kills a new container while it starts (seen on a real cluster). */
const NOT_RUN =
  'Check the command and the pod’s memory limit: either the program is missing, or no memory is left to start it.';

const STARTS_LATER = 'kdebug stopped waiting: if the container still starts later, it does nothing.';

/** For any other reason: what the pod itself lacks is in the answer that needs no container. */
const LOOK_WITHOUT = `${COMMAND} describe POD says what is wrong with the pod itself, without a container.`;

/** Only where the kubelet says so: the same reason stands for many things, and names of images and containers have such words, too. */
const NON_ROOT = 'The pod asks for a non-root user: use --profile=restricted or auto, or an image with a numeric user.';
const NON_ROOT_MESSAGE = /breaks non-root policy|container has runAsNonRoot and /;

const START_HINTS: Readonly<Record<string, string>> = {
  ImagePullBackOff:
    'Check the image name and tag, and that the node may pull it; the pod’s own pull secrets are the only ones used.',
  ErrImagePull:
    'Check the image name and tag, and that the node may pull it; the pod’s own pull secrets are the only ones used.',
  ErrImageNeverPull: 'The node does not have this image and may not pull it: leave --image-pull-policy out.',
  InvalidImageName: 'Ask the policy owners to fix the image reference.',
  RunContainerError: NOT_RUN,
  StartError: NOT_RUN,
  once_more_running: REASONS.once_more_running.hint,
  [TRACER_MISSING]: 'Add --untraced to run it without the tracer: then nothing can end it.',
};

/** A reason of kdebug's own: the target came up between the approval and the launch. */
const RECHECKED: Readonly<Record<string, string>> = { once_more_running: 'its target runs now' };

function whyNotStarted(reason: string, message: string): string {
  const pull = whyNotPulled(reason, message);
  return RECHECKED[reason] ?? (pull === undefined ? reason : `its image ${pull}`);
}

const UNKNOWN = {
  title: 'an error inside kdebug',
  hint: 'Try again; if it happens again, give the run id to the operators of kdebug.',
};

const TEXTS: { readonly [Kind in OutcomeKind]: Describe<Kind> } = {
  succeeded: fixed('ended', 'Succeeded', 'Finished with exit code 0.', ''),
  answered: fixed(
    'ended',
    'Answered',
    'kdebug read what the cluster knows; no container was added.',
    'Run it again for a look inside once its container runs.',
  ),
  failed: ({ exitCode, reason, signal }) => ({
    tone: 'failure',
    title: `The run failed with exit code ${exitCode}`,
    happened: `Exited with code ${exitCode} (${signal ? `signal ${signal}` : reason}).`,
    next: 'Check the last lines of its log.',
  }),
  'oom-killed': fixed(
    'failure',
    'The run was killed: out of memory',
    'The kernel killed it because the pod or the node ran out of memory.',
    'Use a lighter diagnosis: an ephemeral container shares the pod’s memory limit.',
  ),
  'start-failed': ({ reason, message }) => ({
    tone: 'failure',
    title: `kdebug’s container did not start: ${whyNotStarted(reason, message)}`,
    happened: `${sentence(withoutIds(message) || `The kubelet reports ${reason}, without details`)} ${STARTS_LATER}`,
    next: NON_ROOT_MESSAGE.test(message) ? NON_ROOT : (START_HINTS[reason] ?? LOOK_WITHOUT),
  }),
  'no-status': fixed(
    'failure',
    'No answer from the node',
    `The API server accepted the container, but the node never reported on it. ${STARTS_LATER}`,
    'The node may be lost: run it again in a minute, or tell the owners of the cluster.',
  ),
  'timed-out': fixed(
    'attention',
    'Timed out',
    'It was still running at the timeout, and goes on until it exits or somebody stops it.',
    'Next time, use a longer --timeout or a smaller diagnosis.',
  ),
  stopped: ({ by }) => ({
    tone: 'attention',
    title: 'Stopped',
    happened: `${by} stopped it. The log so far is kept.`,
    next: '',
  }),
  'target-ended': fixed(
    'attention',
    'The target exited',
    'That stopped the diagnosis, too: both share one process namespace.',
    'Check the log so far; run it again if the target starts again.',
  ),
  'pod-gone': fixed(
    'attention',
    'The pod is gone',
    'The pod was deleted during the run; the log read so far is kept.',
    'Run it again on another pod of the same workload.',
  ),
  'pod-replaced': fixed(
    'attention',
    'The pod was replaced',
    'Another pod has that name now; nothing was started in it.',
    'Run it again to debug the new pod.',
  ),
  'node-lost': fixed(
    'failure',
    'The node is lost',
    'The node stopped responding during the run.',
    'Tell the owners of the cluster; the log is still on that node.',
  ),
  refused: ({ by, message }) => ({
    tone: 'failure',
    title: `Refused by ${REFUSERS[by]}`,
    happened: [message, REFUSAL_DETAILS[by]].filter(Boolean).join(' '),
    next: REFUSAL_HINTS[by],
  }),
  denied: ({ code }) => ({
    tone: 'failure',
    title: 'Denied by policy',
    happened: `The kdebug policy does not allow it (${code}).`,
    next: 'Ask the policy owners.',
  }),
  rejected: ({ by }) => ({
    tone: 'failure',
    title: 'Rejected',
    happened: `${by} rejected it.`,
    next: 'Talk to them, then send it again.',
  }),
  expired: fixed('attention', 'Expired', 'Nobody approved it in time.', 'Ask again when an approver is around.'),
  cancelled: ({ by }) => ({
    tone: 'ended',
    title: 'Withdrawn',
    happened: `${by} withdrew it.`,
    next: 'Nothing was started.',
  }),
  internal: ({ code }) => {
    const { title, hint } = own(REASONS, code) ?? UNKNOWN;
    return {
      tone: 'failure',
      title: `Not finished: ${title}`,
      happened: `kdebug could not finish it: ${title} (${code}).`,
      next: hint,
    };
  },
};

const REFUSERS = {
  rbac: 'the cluster’s RBAC',
  'pod-security': 'Pod Security',
  webhook: 'an admission webhook',
  validation: 'the API server',
  'name-taken': 'kdebug itself',
} as const;

const REFUSAL_HINTS = {
  rbac: 'Ask the owners of the cluster for the right to patch pods/ephemeralcontainers in that namespace.',
  'pod-security':
    'Use --profile=auto or restricted. If the message names containers other than ours, only a new pod helps.',
  webhook: 'Ask the owners of that admission policy.',
  validation: 'Fix what the message names.',
  'name-taken': 'Another container in the pod has the name of this run: run it again.',
} as const;

const REFUSAL_DETAILS: Readonly<Partial<Record<keyof typeof REFUSERS, string>>> = {
  rbac: 'The missing rule: { apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch] }.',
  'name-taken':
    'Either somebody with the right to patch ephemeral containers made it, or a webhook changes images or security contexts. Then name that image in the policy.',
};

/** A watch ends by itself before kdebug stops following it. */
const WATCH_STUCK =
  'Its own time was over before that: something stopped the watch, or its node is slow. Arm it again.';

/** The same for the end of this run: no other program than kdebug's images knows when it may no longer start. */
export function describeEnd(outcome: Outcome, { plan, request }: Pick<Run, 'plan' | 'request'>): OutcomeText {
  const words = describeOutcome(outcome);
  if (outcome.kind === 'timed-out' && tripwireOf(request)) return { ...words, next: WATCH_STUCK };
  if (!plan?.onceMore) return words;
  return {
    ...words,
    happened: words.happened.replace(STARTS_LATER, 'If the container still starts later, its program runs.'),
  };
}

/** Describes the outcome. The person who decided becomes a mention; the cluster's words stay plain text. */
export function happenedSpans(outcome: Outcome): readonly Span[] {
  const { happened } = describeOutcome(outcome);
  if (outcome.kind !== 'rejected' && outcome.kind !== 'cancelled' && outcome.kind !== 'stopped')
    return line`${happened}`;
  return happened.startsWith(outcome.by)
    ? line`${person(outcome.by)}${happened.slice(outcome.by.length)}`
    : line`${happened}`;
}

/** The table above makes the compiler demand a text for every outcome. */
export function describeOutcome(outcome: Outcome): OutcomeText {
  const describe = TEXTS[outcome.kind] as Describe<OutcomeKind>;
  return describe(outcome);
}

/** The name and colour of each state of a run. */
export const STATE_TEXT: Readonly<Record<RunState, { readonly tone: Tone; readonly headline: string }>> = {
  received: { tone: 'progress', headline: 'Received' },
  denied: { tone: 'failure', headline: 'Denied' },
  'pending-approval': { tone: 'decision', headline: 'Waiting for approval' },
  rejected: { tone: 'failure', headline: 'Rejected' },
  expired: { tone: 'attention', headline: 'Expired' },
  cancelled: { tone: 'ended', headline: 'Withdrawn' },
  approved: { tone: 'progress', headline: 'Launching' },
  launching: { tone: 'progress', headline: 'Launching' },
  starting: { tone: 'progress', headline: 'Starting' },
  running: { tone: 'progress', headline: 'Running' },
  collecting: { tone: 'progress', headline: 'Reading the log' },
  finished: { tone: 'ended', headline: 'Finished' },
};

/** The conditions that a run waits for now; undefined: it is no armed watch. */
export const armedOf = ({ state, request }: Pick<Run, 'state' | 'request'>) =>
  state === 'running' ? tripwireOf(request) : undefined;

/** The state of a run in its own words: a watch that is armed says for what. */
export function stateWords(run: Pick<Run, 'state' | 'request'>): string {
  const armed = armedOf(run);
  return armed ? armedWords(armed) : STATE_TEXT[run.state].headline;
}

/** `, until 12:41`; empty for a run that is no armed watch. */
export function armedUntil(run: Run): readonly Span[] {
  const armed = armedOf(run);
  return armed && run.startedAtMs !== undefined ? line`, until ${time(run.startedAtMs + armed.forMs)}` : [];
}

/** The summary of a card that waits for a decision begins with this. */
export const APPROVAL_NEEDED = 'Approval needed';

/** The end of the anchor's last line where the policy keeps output out of the channel. */
export const OUTPUT_IS_PRIVATE = ' · output goes to the requester by DM';
