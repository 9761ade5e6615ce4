import type { Comparison } from '../../core/batch/batch.ts';
import type { SelectedPod } from '../../core/batch/select-pods.ts';
import { factsOfPod } from '../../core/compare/pod-facts.ts';
import { chooseCompared } from '../../core/compare/siblings.ts';
import type { Node, Pod } from '../../core/container/pod.ts';
import { INSIDE_IMAGE } from '../../core/diagnosis/images/next-image.ts';
import { toKdebugError } from '../../core/errors.ts';
import { base32Hash } from '../../core/hash.ts';
import type { Aim } from '../../core/planning/plan-request.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { own } from '../../lib/object.ts';
import type { AuditSubject } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { refuse } from './plan-pod.ts';

/** Characters of base32: 130 bits. */
const KEY_LENGTH = 26;

interface Context {
  readonly aim: Aim;
  readonly policy: Policy;
  readonly deps: FlowDeps;
}

interface Selected {
  readonly kind: 'selected';
  /** The sick pod first. */
  readonly pods: readonly SelectedPod[];
  readonly notes?: readonly string[];
}

/** The pods of a comparison, as `selectPods` gives those of any batch. */
export function compared(...parts: Parameters<typeof chooseCompared>) {
  const chosen = chooseCompared(...parts);
  return chosen.kind === 'refused' ? chosen : { ...chosen, pods: chosen.pods.map((pod) => ({ pod })) };
}

/**
 * The API's facts about each pod, and a new key for the hashes of the probes. Refuses an image whose report would not be
 * believed. @throws Refused
 */
export async function comparisonOf(
  { pods, notes = [] }: Selected,
  { id }: Pick<AuditSubject, 'id'>,
  context: Context,
): Promise<Comparison> {
  const { aim, deps, policy } = context;
  if (own(policy.images, aim.alias.alias)?.diagnostic !== true) refuse('compare_needs_diagnostic', aim.alias.alias);
  const facts = await Promise.all(
    pods.map(async ({ pod }) => {
      const { namespace, name, uid } = pod.metadata;
      const [node, spoken] = await Promise.all([
        nodeOf(pod, context),
        // With its words; it may be gone by now.
        deps.clusters
          .get(aim.cluster)
          .pod(namespace, name)
          .catch(() => pod),
      ]);
      return [uid, factsOfPod(spoken.metadata.uid === uid ? spoken : pod, node, deps.clock.now())] as const;
    }),
  );
  // A sealed text holds fresh randomness, and nobody sees this one.
  const key = base32Hash(deps.seal(`compare ${id}`, 'compare'), KEY_LENGTH);
  const isThere = own(policy.images, INSIDE_IMAGE)?.diagnostic === true;
  return { key, facts: Object.fromEntries(facts), notes, ...(isThere ? { nextImage: INSIDE_IMAGE } : {}) };
}

/** Reading nodes is an optional right, and a comparison does without. */
async function nodeOf({ spec: { nodeName } }: Pod, { aim, deps }: Context): Promise<Node | undefined> {
  if (nodeName === undefined) return undefined;
  try {
    return await deps.clusters.get(aim.cluster).node(nodeName);
  } catch (thrown) {
    deps.log.debug('cannot read node, comparing without it', { reason: toKdebugError(thrown).code });
    return undefined;
  }
}
