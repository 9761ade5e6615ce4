import { parseImageReference, printImageReference } from '../core/container/names.ts';
import type { ImageAlias, Policy } from '../core/policy/policy.ts';
import { formatCount } from '../lib/duration.ts';
import type { Area, Check } from './check.ts';
import type { ClusterProbe, SeenImage } from './probes.ts';

const MAX_IMAGE_WORDS = 200;

/** Checks that each image of the policy ran in a namespace of its rules, or lies on a node there. */
export async function checkImages(
  { images }: Policy,
  namespaces: readonly string[],
  probe: ClusterProbe,
  cluster: Area,
): Promise<readonly Check[]> {
  const seen = await Promise.all(
    namespaces.map((namespace) => probe.images(namespace).catch((): readonly SeenImage[] => [])),
  );
  return Object.values(images).map((image) => judgeImage(image, seen.flat(), namespaces.length, cluster));
}

function judgeImage({ alias, reference }: ImageAlias, seen: readonly SeenImage[], count: number, cluster: Area): Check {
  const what = `image ${alias}`;
  const wanted = spelledOut(reference);
  const digest = parseImageReference(reference)?.digest;
  const same = seen.filter(
    ({ image, imageId }) => spelledOut(image) === wanted || (digest !== undefined && imageId.endsWith(digest)),
  );
  if (same.some(({ imageId }) => imageId !== '')) return cluster.ok(what, `${reference} was pulled here before`);
  const trouble = same.find((one) => one.trouble !== '')?.trouble.slice(0, MAX_IMAGE_WORDS);
  const fix = `docker manifest inspect ${reference}`;
  return trouble === undefined
    ? cluster.warn(
        what,
        `${reference} was not seen in ${formatCount(count, 'namespace')} yet: does the registry have it?`,
        fix,
      )
    : cluster.fail(
        what,
        `${reference} could not be pulled: ${trouble}`,
        fix,
        'name the image in the policy as the cluster pulls it',
      );
}

function spelledOut(image: string): string {
  const reference = parseImageReference(image);
  return reference === undefined ? image : printImageReference(reference);
}
