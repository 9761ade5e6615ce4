import { parseCommand } from '../../core/command/parse.ts';
import { type KdebugError, type ReasonCode, toKdebugError } from '../../core/errors.ts';
import { channelOffer, resolveCluster, resolveImage, resolveNamespace } from '../../core/planning/resolve.ts';
import { channelPolicy } from '../../core/policy/policy.ts';
import type { RunRequest } from '../../core/request/command.ts';
import {
  commandErrorPreview,
  decisionPreview,
  NOT_KNOWN,
  PICK_A_POD,
  refusalPreview,
} from '../../core/say/form-preview.ts';
import type { Form } from '../../core/say/message/message.ts';
import type { PodHint } from '../../core/say/pod-in-text.ts';
import { commandOfForm, fieldsOfImage, loadingForm, requestForm, validFields } from '../../core/say/request-form.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { type LookupLimiter, originOf } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { answerReason, refusal, refusalOfError } from '../context/refusals.ts';
import { channelProblem } from '../planning/channel-check.ts';
import { type Actor, ANSWER_WITHIN_MS, type Answer, type FormChange } from '../ports/slack.ts';
import { planOrRefusal } from '../run/plan.ts';
import { isVisible, podsOf } from './search.ts';

type Fields = Readonly<Record<string, string>>;

export interface FormContext {
  readonly deps: FlowDeps;
  /** Bounds the previews of one person, which cost reads and records. */
  readonly previews: LookupLimiter;
}

/** For a bare `/kdebug` and the shortcut "Debug a pod": opens at once, and is completed with what the cluster says. */
export function openRequestForm(actor: Actor, hint: PodHint, context: FormContext): Answer {
  const policy = context.deps.policies.current();
  if (!channelPolicy(policy, actor.channelId)) return answerReason('channel_unknown', actor.channelId);
  return { kind: 'form', form: loadingForm, complete: () => formFor(actor, { ...hint }, context) };
}

/** The form after a field has changed. Undefined: the channel left the policy meanwhile; the submission says so. */
export async function changeRequestForm(change: FormChange, context: FormContext): Promise<Form | undefined> {
  const policy = context.deps.policies.current();
  if (!channelPolicy(policy, change.channelId)) return undefined;
  const fields = validFields(change.value, change.fields);
  const image = resolveImage(fields.image, policy);
  return formFor(change, image.kind === 'ok' ? fieldsOfImage(fields, image.alias) : fields, context);
}

/** Never rejects: without an answer of the cluster, the form says so and works. */
async function formFor(actor: Actor, fields: Fields, context: FormContext): Promise<Form> {
  const { deps } = context;
  const policy = deps.policies.current();
  const state = withDefaults(fields, actor.channelId, deps);
  const offer = channelOffer(policy, actor.channelId, state);
  const { intro, containers } = await withDeadline(
    deps.clock,
    ANSWER_WITHIN_MS,
    formContent(actor, { ...fields, ...state }, context).catch((thrown: unknown) =>
      withoutAnswer(toKdebugError(thrown), deps),
    ),
    () => UNKNOWN,
  );
  const name = channelPolicy(policy, actor.channelId)?.name;
  const where = name === undefined ? '' : ` The result comes in ${name}.`;
  return requestForm(policy, { state, offer, containers, intro: `${intro}${where}` });
}

const UNKNOWN = { intro: NOT_KNOWN, containers: [] };

/** The cluster's own no. Any other error says nothing about the request. */
const REFUSALS: ReadonlySet<ReasonCode> = new Set(['pod_not_found', 'namespace_not_found', 'cluster_forbidden']);

function withoutAnswer(error: KdebugError, { log }: Pick<FlowDeps, 'log'>): typeof UNKNOWN {
  if (REFUSALS.has(error.code)) return { ...UNKNOWN, intro: refusalPreview(refusalOfError(error)) };
  log.debug('form without preview', { reason: error.code });
  return UNKNOWN;
}

/** Fills in the default cluster and namespace, so that the form shows where the search happens. */
function withDefaults(fields: Fields, channelId: string, { policies }: Pick<FlowDeps, 'policies'>) {
  const { cluster, namespace, pod, image } = fields;
  const resolved = resolveCluster(cluster, policies.current());
  const found = resolveNamespace(defined({ cluster, namespace }), channelId, policies.current());
  return defined({
    cluster: resolved.kind === 'ok' ? resolved.cluster : undefined,
    namespace: namespace ?? (found.kind === 'ok' ? found.namespace : undefined),
    pod,
    image,
  });
}

async function formContent(
  actor: Actor,
  fields: Fields,
  { deps, previews }: FormContext,
): Promise<{ readonly intro: string; readonly containers: readonly string[] }> {
  const { pod, cluster, namespace } = fields;
  // Every change may name another namespace to read.
  if (previews.refusal(actor.userId, 'can-i')) return UNKNOWN;
  const found = resolveNamespace(defined({ cluster, namespace }), actor.channelId, deps.policies.current());
  if (found.kind === 'deny') return { intro: refusalPreview(refusal(found.code, found.subject)), containers: [] };
  if (!(await isVisible(actor, found, deps)))
    return { intro: refusalPreview(refusal('access_denied', found.namespace)), containers: [] };
  if (pod === undefined) {
    // The first read of a large namespace takes longer than a search may: begin it now.
    void podsOf(found, deps).catch(() => undefined);
    return { intro: PICK_A_POD, containers: [] };
  }
  const parsed = parseCommand(commandOfForm(fields));
  if (parsed.kind === 'error') return { intro: commandErrorPreview(parsed.error), containers: [] };
  if (parsed.command.kind !== 'run') return { intro: PICK_A_POD, containers: [] };
  const { request } = parsed.command;
  const [intro, containers] = await Promise.all([
    previewOf(actor, request, deps),
    request.target.kind === 'pod' ? containersOf(found, request.target.name, deps) : [],
  ]);
  return { intro, containers };
}

async function containersOf(
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
  name: string,
  { clusters }: Pick<FlowDeps, 'clusters'>,
): Promise<readonly string[]> {
  const pod = await clusters
    .get(cluster)
    .pod(namespace, name)
    .catch(() => undefined);
  return pod?.spec.containers.map((container) => container.name) ?? [];
}

/** A preview is not worth a longer wait. */
const PREVIEW_MS = 1_500;

/**
 * Says if a request would run, need an approval or be refused, by the same steps as a run. Starts and stores nothing.
 */
async function previewOf(actor: Actor, request: RunRequest, deps: FlowDeps): Promise<string> {
  const { clock } = deps;
  const untilMs = clock.elapsed() + PREVIEW_MS;
  const origin = originOf({ ...actor, dedupeKey: '', receivedAtMs: clock.now() }, 'form');
  const problem = await channelProblem(origin, deps);
  if (problem) return refusalPreview(problem);
  const preview = { isOver: () => clock.elapsed() >= untilMs };
  const planned = await planOrRefusal({ origin, request }, deps, preview);
  if ('refusal' in planned) return refusalPreview(planned.refusal);
  const { plan, decision, batch, question } = planned;
  const pods = question?.kind === 'workload' ? question.scope.pods.length : batch?.approvedPods;
  return decisionPreview(plan, decision, pods);
}
