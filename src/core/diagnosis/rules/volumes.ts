import { unmetCondition } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { Claim, ClusterFacts, ObjectEvent } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { ago, cleanWords, listed, quoted } from '../reading/phrases.ts';
import {
  ageOf,
  isBeingSetUp,
  isDeleting,
  isOver,
  MINUTE_MS,
  manifestOf,
  SECOND_MS,
  warningsOfPod,
} from '../reading/pod-containers.ts';
import { missingIn } from './configuration.ts';

/** The kubelet repeats a failing mount every two minutes, and reports it every five at least. */
const MOUNT_MS = 10 * MINUTE_MS;
/** A new volume may take this long to be made and bound. */
const BINDING_MS = 15 * SECOND_MS;

const CLASS_MISSING = /storageclass(?:es)?(?:\.storage\.k8s\.io)? "(?<name>[^"]{1,253})" not found/;

interface Unbound {
  readonly why: string;
  readonly next: string;
}

/** Explains why a claim has no volume. Undefined: nothing is wrong with that, or the reason is not known yet. */
function whyUnbound(
  name: string,
  claim: Claim | undefined,
  events: readonly ObjectEvent[],
  facts: ClusterFacts,
): Unbound | undefined {
  const own = events.filter(({ involved }) => involved.kind === 'PersistentVolumeClaim' && involved.name === name);
  const scheduler = unmetCondition(facts.pod, 'PodScheduled')?.message ?? '';
  const messages = [...own.map(({ message }) => message), scheduler];
  const className =
    messages.map((message) => CLASS_MISSING.exec(message)?.groups?.name).find((found) => found !== undefined) ??
    classMissing(claim, facts);
  if (className !== undefined) {
    const known = (facts.storageClasses ?? []).slice(0, 5).map((each) => cleanWords(each, 60));
    const instead = known.length === 0 ? 'one that exists' : listed(known).replace(/ and (?=[^ ]+$)/, ' or ');
    return {
      why: `the StorageClass ${cleanWords(className, 100)} does not exist`,
      next: `Make the claim ${name} again with ${instead} as its storageClassName, or create that StorageClass.`,
    };
  }
  if (claim?.phase === 'Lost')
    return { why: 'its volume is lost', next: 'Restore the volume, or make the claim again without its data.' };
  // The API server writes the default class into a claim, so a claim without one met none.
  const isWithoutClass = messages.some((message) => /no storage class is set/.test(message));
  if (isWithoutClass || (claim !== undefined && claim.storageClass === undefined && isWaitedFor(facts))) {
    return {
      why: 'it names no StorageClass, the cluster has no default one, and no free volume fits it',
      next: `Set a storageClassName for the claim ${name}, or make a StorageClass the default one.`,
    };
  }
  const failed = own.find(({ reason }) => reason === 'ProvisioningFailed');
  if (failed)
    return {
      why: quoted(failed.message) || 'its provisioner fails',
      next: 'Correct the StorageClass or its provisioner; the pod starts once the claim is bound.',
    };
  return undefined;
}

/** Without these words the class waits for the pod to be placed (WaitForFirstConsumer), or the pod for something else. */
const isWaitedFor = ({ pod }: ClusterFacts): boolean =>
  /unbound immediate PersistentVolumeClaims/.test(unmetCondition(pod, 'PodScheduled')?.message ?? '');

function classMissing(claim: Claim | undefined, { storageClasses }: ClusterFacts): string | undefined {
  const wanted = claim?.storageClass;
  const isUnbound = claim !== undefined && claim.phase !== 'Bound';
  if (!isUnbound || wanted === undefined || wanted === '' || storageClasses === undefined) return undefined;
  return storageClasses.includes(wanted) ? undefined : wanted;
}

function unboundFindings(facts: ClusterFacts): readonly Finding[] {
  const { pod } = facts;
  if (isOver(pod) || isDeleting(pod) || pod.status.phase === 'Running') return [];
  return (pod.spec.claims ?? []).flatMap((name) => claimFinding(name, facts) ?? []);
}

function claimFinding(name: string, facts: ClusterFacts): Finding | undefined {
  const { claims, warnings = [] } = facts;
  const claim = claims?.find((each) => each.name === name);
  if (claims && !claim) return missingClaim(name, facts);
  if (claim?.phase === 'Bound') return undefined;
  const unbound = whyUnbound(name, claim, warnings, facts);
  if (unbound)
    return { code: 'claim_unbound', text: `the claim ${name} has no volume: ${unbound.why}`, next: unbound.next };
  if (claim === undefined || !isWaitedFor(facts) || !(ageOf(facts) > BINDING_MS)) return undefined;
  const size = claim.requested === undefined ? '' : ` (${cleanWords(claim.requested, 20)})`;
  const how = claim.storageClass
    ? `its StorageClass ${cleanWords(claim.storageClass, 100)} has made none yet`
    : 'no free volume fits it';
  const next = claim.storageClass
    ? `Look at the provisioner of the StorageClass ${cleanWords(claim.storageClass, 100)}: the pod starts once the claim is bound.`
    : `Create a volume that fits the claim ${name}, or give it a storageClassName.`;
  return {
    code: 'claim_unbound',
    text: `the claim ${name}${size} has no volume: ${how}`,
    next,
    rank: claim.storageClass ? 2 : 1,
  };
}

const missingClaim = (name: string, { pod }: ClusterFacts): Finding => ({
  code: 'claim_unbound',
  text: `the pod’s claim ${name} does not exist`,
  next: `Create the PersistentVolumeClaim ${name} in ${pod.metadata.namespace}, or correct its name in ${manifestOf(pod)}.`,
});

function attachFindings(facts: ClusterFacts): readonly Finding[] | undefined {
  const warnings = warningsOfPod(facts);
  if (!warnings || !isBeingSetUp(facts.pod)) return warnings && [];
  const event = warnings.find(({ reason, atMs }) => reason === 'FailedAttachVolume' && facts.nowMs - atMs <= MOUNT_MS);
  if (!event) return [];
  const volume = /volume "(?<name>[^"]{1,253})"/.exec(event.message)?.groups?.name;
  const named = volume === undefined ? 'a volume' : `the volume ${cleanWords(volume, 100)}`;
  const isElsewhere = /Multi-Attach error/.test(event.message);
  const by = /already used by pod\(s\) (?<pods>.{1,200}?)\.?$/.exec(event.message)?.groups?.pods;
  const where =
    by === undefined
      ? 'it is still attached to another node'
      : `it is in use by ${cleanWords(by, 100)} on another node`;
  const text = `the pod cannot start: ${named} cannot be attached: ${isElsewhere ? where : quoted(event.message)}`;
  const next = isElsewhere
    ? 'End the other pod first (strategy Recreate for one replica), or use a volume for several nodes (ReadWriteMany).'
    : 'Look at the volume’s driver and whether the volume still exists; the node tries again.';
  return [{ code: 'volume_not_attached', text, next }];
}

const TIMED_OUT = /unmounted volumes=\[(?<names>[^\]]{1,300})\]/;

/** The node has not read the pod's ConfigMaps and Secrets yet: so it says of many pods that start a second later. */
const NODE_CATCHES_UP = /not registered|failed to sync (?:configmap|secret) cache/;

function mountFindings(facts: ClusterFacts): readonly Finding[] | undefined {
  const warnings = warningsOfPod(facts);
  if (!warnings || !isBeingSetUp(facts.pod)) return warnings && [];
  const current = warnings.filter(({ reason, atMs }) => reason === 'FailedMount' && facts.nowMs - atMs <= MOUNT_MS);
  const own = current.filter(
    ({ message }) => missingIn(message, facts) === undefined && !NODE_CATCHES_UP.test(message),
  );
  // The timeout names only the volume; another event has the reason.
  const event = own.find(({ message }) => !TIMED_OUT.test(message)) ?? own[0];
  if (!event) return [];
  const names =
    TIMED_OUT.exec(event.message)?.groups?.names ?? /volume "(?<name>[^"]{1,253})"/.exec(event.message)?.groups?.name;
  const why = TIMED_OUT.test(event.message)
    ? 'its driver does not answer in time'
    : quoted(
        event.message.replace(/^MountVolume\.\w+ failed for volume "[^"]*" ?: (?:hostPath type check failed: )?/, ''),
      );
  const named = names === undefined ? 'a volume' : `the volume ${cleanWords(names, 100)}`;
  const isHostPath = /hostPath type check failed/.test(event.message);
  const next = `Create that path on the node, or correct it or its type (DirectoryOrCreate) in the manifest of ${manifestOf(facts.pod)}.`;
  return [
    {
      code: 'volume_not_mounted',
      ...(isHostPath ? { next } : {}),
      text: `the pod cannot start: ${named} cannot be mounted: ${why} (last try ${ago(facts.nowMs - event.atMs)})`,
    },
  ];
}

const STARTING = { seenBy: 'cluster', section: 'start', rank: 1 } as const;
const VAGUER = ['not_ready', 'warning_events', 'init_waiting'];

export const VOLUME_RULES: readonly ClusterRule[] = [
  {
    ...STARTING,
    code: 'claim_unbound',
    reads: 'the pod’s claims, their events, the StorageClasses',
    means: 'A volume that the pod claims does not exist, so the pod cannot be placed or started.',
    next: 'Give the claim a StorageClass that exists, or create a volume that fits it.',
    source:
      'Kubernetes, "Persistent Volumes", binding; a class with WaitForFirstConsumer waits for the pod, which is no error; 15 s are chosen for a provisioner',
    explains: ['not_scheduled'],
    replaces: VAGUER,
    find: unboundFindings,
  },
  {
    ...STARTING,
    code: 'volume_not_attached',
    reads: 'event FailedAttachVolume while the pod is being set up',
    means: 'The pod’s volume is attached to another node, or cannot be attached to this one.',
    next: 'End the other pod that uses the volume, or use one that several nodes may mount.',
    source: 'Kubernetes, "Persistent Volumes", access modes; ten minutes are chosen, older warnings have healed',
    replaces: [...VAGUER, 'volume_not_mounted'],
    find: attachFindings,
  },
  {
    ...STARTING,
    code: 'volume_not_mounted',
    reads: 'event FailedMount while the pod is being set up',
    means: 'The node cannot mount a volume of the pod, so nothing of the pod starts.',
    next: 'Look at the volume’s server or driver and its mount options; the node tries again every two minutes at most.',
    source: 'Kubernetes, "Volumes"; ten minutes are chosen, older warnings have healed',
    replaces: VAGUER,
    find: mountFindings,
  },
];
