import { parseImageReference, printImageReference } from '../core/container/names.ts';
import { isObject } from '../lib/object.ts';
import type { Finding } from '../lib/yaml.ts';

type Path = Finding['path'];

/** The placeholder syntax of our example policies. */
const PLACEHOLDER = /REPLACE_?ME/;

/** The meaning of a Slack id with this first letter, and the place where people find it. */
const SLACK_IDS: Readonly<Record<string, string>> = {
  C: "the channel's id (in Slack: the channel's details, at the bottom)",
  G: "the channel's id (in Slack: the channel's details, at the bottom)",
  S: "the user group's id (in Slack: the group's menu, Copy group ID)",
  U: "the person's id (in Slack: the person's profile, Copy member ID)",
};

/**
 * Finds the rest of an example in a valid policy file: ids like `C0REPLACEME`, and images that no registry can have.
 * Such a file loads; it only does nothing for anybody. Reads the plain data of the file, so its own comments never
 * count.
 */
export const placeholderFindings = (data: unknown): readonly Finding[] => [...texts(data, []), ...images(data)];

function texts(value: unknown, path: Path): readonly Finding[] {
  if (typeof value === 'string') return finding(value, path, 'value');
  if (Array.isArray(value)) return value.flatMap((item, index) => texts(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...finding(key, [...path, key], 'key'),
    ...texts(item, [...path, key]),
  ]);
}

function finding(text: string, path: Path, at: Finding['at']): readonly Finding[] {
  if (!PLACEHOLDER.test(text)) return [];
  const remedy = SLACK_IDS[text.charAt(0)] ?? 'the real one';
  return [{ path, at, message: `is a placeholder: put ${remedy} here` }];
}

function images(data: unknown): readonly Finding[] {
  const catalogue = isObject(data) && isObject(data.images) ? data.images : {};
  return Object.entries(catalogue).flatMap(([alias, image]) => {
    const reference = isObject(image) && typeof image.image === 'string' ? image.image : '';
    const message = whyMissing(reference);
    return message === undefined ? [] : [{ path: ['images', alias, 'image'], at: 'value', message }];
  });
}

/** The images that this repository builds. Docker Hub has none of them, and people publish them under names of their own. */
const IS_OWN_IMAGE = /^library\/kdebug(?:-(?:autodiagnose|stacks|profile|net|blackbox))?$/;

/** Names for documents, which RFC 2606 reserves: no registry ever answers there. */
const EXAMPLE_HOST = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|invalid)(?::\d+)?$/i;

function whyMissing(reference: string): string | undefined {
  const image = parseImageReference(reference);
  if (image === undefined) return undefined;
  if (EXAMPLE_HOST.test(image.domain)) return `names ${image.domain}, where no registry is: put your registry here`;
  // People who loaded it onto every node write the whole name, which is how a node stores it.
  if (!IS_OWN_IMAGE.test(image.path) || reference.startsWith('docker.io/')) return undefined;
  return `is in no registry: build and push it, and put its name in your registry here; or, where it is loaded onto every node, ${printImageReference(image)}`;
}
