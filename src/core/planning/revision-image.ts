import { parseImageReference } from '../container/names.ts';
import type { OnceMore } from '../container/once-more.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod, PodContainer } from '../container/pod.ts';
import type { Revision, Revisions, WantedRevision } from '../container/revisions.ts';
import { type Denial, denied } from '../policy/policy.ts';
import { isSameReference } from './resolve.ts';

export type RevisionImage = Pick<Plan, 'image' | 'imagePullPolicy'> &
  Required<Pick<OnceMore, 'revision'>> & { readonly kind: 'image' };

interface WantedImage {
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly wanted: WantedRevision;
}

/**
 * The image that another revision of the pod's Deployment gives its container, or why there is none to run. Mostly it is a
 * tag; a copy that the node has of it is the likeliest to be what ran then, so it is not pulled again.
 */
export function imageOfRevision(
  { pod, container, wanted }: WantedImage,
  revisions: Revisions = { kind: 'none' },
): RevisionImage | Denial {
  const { name, namespace } = pod.metadata;
  if (revisions.kind === 'no-right')
    return denied('once_more_revisions_unreadable', `${revisions.right} in ${namespace}`);
  if (revisions.kind === 'none') return noRevision(`${name} is no revision of a Deployment`);
  const { all, own, deployment } = revisions;
  const number = wanted === 'previous' ? newestOf(all.filter((each) => each.number < own)) : wanted;
  if (number === undefined) return noRevision(`deployment/${deployment} keeps none before ${own}, the pod's own`);
  const [found, second] = all.filter((each) => each.number === number);
  if (!found) return noRevision(`deployment/${deployment} keeps ${numbersOf(all)}`);
  if (second) return noRevision(`deployment/${deployment} has two ReplicaSets of ${number}`);
  const { image } = found;
  if (image === undefined) return noRevision(`revision ${number} has no container ${container.name}`);
  if (!parseImageReference(image)) return noRevision(`the image of revision ${number} has no valid name`);
  const isOwn = sameAsOwn(container, all.find((each) => each.number === own)?.image);
  if (isOwn(image)) {
    const other = newestOf(all.filter((each) => each.image !== undefined && !isOwn(each.image)));
    return denied('once_more_same_image', `${image} of revision ${number}; ${otherText(other)}`);
  }
  return { kind: 'image', image, imagePullPolicy: 'IfNotPresent', revision: number };
}

/** A webhook may have changed the image on its way from the template into the pod. */
const sameAsOwn =
  (container: PodContainer, template: string | undefined) =>
  (image: string): boolean =>
    isSameReference(image, container.image) || (template !== undefined && isSameReference(image, template));

const newestOf = (all: readonly Revision[]): number | undefined =>
  all.length === 0 ? undefined : Math.max(...all.map(({ number }) => number));

const otherText = (other: number | undefined): string =>
  other === undefined ? 'no revision has another' : `revision ${other} has another`;

const numbersOf = (all: readonly Revision[]): string =>
  all
    .map(({ number }) => number)
    .toSorted((a, b) => a - b)
    .join(', ');

const noRevision = (why: string): Denial => denied('once_more_no_revision', why);
