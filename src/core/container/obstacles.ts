import type { Plan } from './plan.ts';
import type { PodContainer } from './pod.ts';

/** The facts that are known before a launch about a plan and its target. */
interface Situation {
  readonly plan: Pick<Plan, 'profile' | 'securityContext' | 'blindSpots' | 'targetContainerName'>;
  /** Absent: no target. */
  readonly target: PodContainer | undefined;
}

interface Obstacle {
  /** The images that it concerns, by the alias that a policy gives them. */
  readonly images: readonly string[];
  readonly holds: (situation: Situation) => boolean;
  /** One sentence: what will not work, and what would. */
  readonly says: string;
}

/** Without a user in the plan, the pod's or the image's counts; that of these images is not root. */
const isRoot = ({ plan: { securityContext } }: Situation): boolean => securityContext?.runAsUser === 0;

/** Each from an experiment on a real cluster (next-features, section E). */
const OBSTACLES: readonly Obstacle[] = [
  {
    images: ['stacks', 'profile'],
    holds: ({ plan }) => plan.targetContainerName === undefined,
    says: 'Without a target container it sees no process: leave out --no-target, or name one with --target.',
  },
  {
    images: ['stacks', 'profile'],
    // As root, these images become the target's user first.
    holds: (situation) => situation.plan.blindSpots.length > 0 && !isRoot(situation),
    says: "Its user is not the target's, so no runtime answers it: run autodiagnose first, which learns that user, or use --profile=general.",
  },
  {
    images: ['stacks', 'profile'],
    holds: ({ target }) => target?.disablesAttach === true,
    says: 'The pod starts its JVM with -XX:+DisableAttachMechanism: that JVM answers neither for stacks nor for a profile.',
  },
  {
    images: ['stacks', 'profile'],
    holds: ({ target }) => target?.hasReadOnlyTmp === true,
    says: "The target's /tmp is read-only (readOnlyRootFilesystem without a volume there): a JVM cannot be attached to. Other runtimes can.",
  },
  {
    images: ['capture'],
    holds: (situation) => situation.plan.profile === 'restricted' || !isRoot(situation),
    says: 'A capture needs root and NET_RAW: use --profile=baseline or netadmin, if the namespace admits it.',
  },
];

/**
 * The obstacles that will keep an image from working with this plan, as far as the spec shows them; one sentence each.
 * Pure.
 */
export const obstaclesOf = (imageAlias: string, situation: Situation): readonly string[] =>
  OBSTACLES.filter(({ images, holds }) => images.includes(imageAlias) && holds(situation)).map(({ says }) => says);
