import type { Outcome, OutcomeKind } from '../run/outcome.ts';
import type { Tone } from './message.ts';

/** What an outcome is called and what its reader should know. */
export interface OutcomeText {
  readonly tone: Tone;
  /** A few words for a heading. */
  readonly title: string;
  /** One sentence on what happened. */
  readonly happened: string;
  /** One sentence on what to do next. */
  readonly next: string;
}

type Describe<Kind extends OutcomeKind> = (outcome: Extract<Outcome, { kind: Kind }>) => OutcomeText;

const fixed = (tone: Tone, title: string, happened: string, next: string) => (): OutcomeText => ({
  tone,
  title,
  happened,
  next,
});

/** A container of a pod at its memory limit is killed before it is one (found on a real cluster). */
const NOT_RUN =
  'Either the image does not have that program, or the pod has no memory left for one more container: look at the command, and at the pod’s memory limit.';

const START_HINTS: Readonly<Record<string, string>> = {
  ImagePullBackOff:
    'Check the image name and tag, and that the node may pull it; the pod’s own pull secrets are the only ones used.',
  ErrImagePull:
    'Check the image name and tag, and that the node may pull it; the pod’s own pull secrets are the only ones used.',
  ErrImageNeverPull: 'The node does not have this image and was told never to pull it: leave --image-pull-policy out.',
  InvalidImageName: 'Have the image reference in the policy corrected.',
  CreateContainerConfigError:
    'The pod asks for a non-root user: use --profile=restricted or auto, or an image with a numeric user.',
  RunContainerError: NOT_RUN,
  StartError: NOT_RUN,
};

const TEXTS: { readonly [Kind in OutcomeKind]: Describe<Kind> } = {
  succeeded: fixed('success', 'Succeeded', 'It ran to its end with exit code 0.', 'Read the log below.'),
  failed: ({ exitCode, reason, signal }) => ({
    tone: 'failure',
    title: `Failed with exit code ${exitCode}`,
    happened: `It ran and ended with exit code ${exitCode} (${signal ? `signal ${signal}` : reason}).`,
    next: 'The last lines of its log say why.',
  }),
  'oom-killed': fixed(
    'failure',
    'Killed: out of memory',
    'The kernel killed it for using more memory than the pod or node had left.',
    'Use a lighter diagnosis; an ephemeral container has no memory of its own, it lives on the pod’s.',
  ),
  'start-failed': ({ reason, message }) => ({
    tone: 'failure',
    title: `Did not start: ${reason}`,
    happened: message || `The kubelet says ${reason} and nothing more.`,
    next: `${START_HINTS[reason] ?? 'Look at the pod’s events.'} kdebug stopped waiting; the kubelet has not, and a late start does nothing.`,
  }),
  'no-status': fixed(
    'failure',
    'No answer from the node',
    'The API server took the container, but the node never said anything about it.',
    'Check the node: its kubelet may be down. If it comes back late, the container sees that its time is over.',
  ),
  'timed-out': fixed(
    'attention',
    'Timed out',
    'It was still running when its time was over. Ephemeral containers cannot be removed or killed through the API: it ends when it ends.',
    'Ask for more time with --timeout, or for less work.',
  ),
  stopped: fixed('attention', 'Stopped', 'It was stopped on request.', 'Its log up to there is below.'),
  'target-ended': fixed(
    'attention',
    'The target ended',
    'The target container ended and took the diagnosis along: they share one process namespace.',
    'Read the log up to there; run again once the target is up.',
  ),
  'pod-gone': fixed(
    'attention',
    'The pod is gone',
    'The pod was deleted before the end; what had been read of the log is kept.',
    'Run it again on another pod of the same workload.',
  ),
  'pod-replaced': fixed(
    'attention',
    'The pod was replaced',
    'Another pod has taken that name since; nothing was started in the new one.',
    'Run it again if you mean the new pod.',
  ),
  'node-lost': fixed(
    'failure',
    'The node is lost',
    'The node stopped answering while the diagnosis ran.',
    'Check the node; if it comes back, the log is still there.',
  ),
  refused: ({ by, message }) => ({
    tone: 'failure',
    title: `Refused by ${REFUSERS[by]}`,
    happened: message,
    next: REFUSAL_HINTS[by],
  }),
  denied: ({ code }) => ({
    tone: 'failure',
    title: 'Denied by policy',
    happened: `The kdebug policy does not allow it (${code}).`,
    next: 'Ask the owners of the policy.',
  }),
  rejected: ({ by }) => ({
    tone: 'failure',
    title: 'Rejected',
    happened: `${by} rejected it.`,
    next: 'Talk to them, then ask again.',
  }),
  expired: fixed('attention', 'Expired', 'Nobody approved it in time.', 'Ask again when an approver is there.'),
  cancelled: ({ by }) => ({
    tone: 'neutral',
    title: 'Cancelled',
    happened: `${by} cancelled it.`,
    next: 'Nothing was started.',
  }),
  internal: ({ code }) => ({
    tone: 'failure',
    title: 'kdebug stumbled',
    happened: `Something in kdebug or on the way to the cluster broke (${code}).`,
    next: 'Try again; if it stays, give the run id to the operators of kdebug.',
  }),
};

const REFUSERS = {
  rbac: 'the cluster’s RBAC',
  'pod-security': 'Pod Security',
  webhook: 'an admission webhook',
  validation: 'the API server',
  'name-taken': 'kdebug itself',
} as const;

const REFUSAL_HINTS = {
  rbac: 'Have this rule granted in a Role of that namespace: { apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch] }.',
  'pod-security':
    'Use --profile=auto or restricted. If the message names containers other than ours, only a new pod helps.',
  webhook: 'Ask the owners of that admission policy.',
  validation: 'Correct what the message names.',
  'name-taken':
    'Look at the pod with kubectl: who may patch ephemeral containers there made it, or a webhook changes images or security contexts. Then name in the policy the image that it puts in.',
} as const;

/** The words for an outcome; one table, so that no outcome is without them. */
export function describeOutcome(outcome: Outcome): OutcomeText {
  const describe = TEXTS[outcome.kind] as Describe<OutcomeKind>;
  return describe(outcome);
}
