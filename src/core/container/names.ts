import { defined } from '../../lib/object.ts';

/** An image reference with every default of the grammar except the tag's. */
export interface ImageReference {
  /** Host and port; `docker.io` by default. */
  readonly domain: string;
  /** Repository within the domain; `library/` precedes a single word of docker.io. */
  readonly path: string;
  readonly tag?: string;
  /** `sha256:…`, in lower case. */
  readonly digest?: string;
}

/** The limit of a repository's name, including the domain (distribution/reference, NameTotalLengthMax). */
const NAME_LENGTH = 255;
const MAX_LENGTH = NAME_LENGTH + 1 + 128 + 1 + 7 + 128;

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const PATH = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`);
const DOMAIN_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const DOMAIN = new RegExp(`^(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]{1,5})?$`);
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
/** Sixty-four hexadecimal digits are an image id, not a name. */
const IDENTIFIER = /^[a-f0-9]{64}$/;

/**
 * Parses `debian`, `debian:12`, `registry.example.com:5000/a/b@sha256:…` by the grammar of distribution/reference
 * (ParseNormalizedNamed), else returns `undefined`. Linear; refuses more than 521 characters unread.
 */
export function parseImageReference(text: string): ImageReference | undefined {
  if (text.length > MAX_LENGTH || IDENTIFIER.test(text)) return undefined;
  const [named, digest] = splitAt(text, text.indexOf('@'));
  const [name, tag] = splitAt(named, named.indexOf(':', named.lastIndexOf('/') + 1));
  const { domain, path } = splitDomain(name);
  const isName = domain.length + 1 + path.length <= NAME_LENGTH && DOMAIN.test(domain) && PATH.test(path);
  const isTag = tag === undefined || TAG.test(tag);
  const isDigest = digest === undefined || DIGEST.test(digest);
  if (!isName || !isTag || !isDigest) return undefined;
  return { domain, path, ...defined({ tag, digest }) };
}

/** The parts before and after one character; the whole text first if the character is missing (−1). */
const splitAt = (text: string, at: number): readonly [string, string | undefined] =>
  at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];

/** The first part is a host if it has a dot, a colon or an upper-case letter, or is `localhost`. */
function splitDomain(name: string): { domain: string; path: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const domain = isHost ? first : 'docker.io';
  const path = isHost ? name.slice(slash + 1) : name;
  if (domain !== 'docker.io' && domain !== 'index.docker.io') return { domain, path };
  return { domain: 'docker.io', path: path.includes('/') ? path : `library/${path}` };
}

/** A pinned reference always means the same content; a tag may move between the approval and the pull. */
export const isPinned = (text: string): boolean => parseImageReference(text)?.digest !== undefined;

/** The repository without tag and digest: `docker.io/library/debian`. Compare repositories by this, never as typed. */
export const imageRepository = (reference: ImageReference): string => `${reference.domain}/${reference.path}`;

/** The full spelling: `debian:12` is `docker.io/library/debian:12`. */
export const printImageReference = (reference: ImageReference): string =>
  imageRepository(reference) +
  (reference.tag === undefined ? '' : `:${reference.tag}`) +
  (reference.digest === undefined ? '' : `@${reference.digest}`);

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const LABEL_LENGTH = 63;
const SUBDOMAIN_LENGTH = 253;
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
/** The longest name of a variable. The API has no limit, a Slack message has. */
const ENV_NAME_LENGTH = 253;

/** DNS-1123 label (namespaces, containers): at most 63 of `a-z 0-9 -`. Kubernetes apimachinery, util/validation. */
export const isDnsLabel = (text: string): boolean => text.length <= LABEL_LENGTH && LABEL.test(text);

/** DNS-1123 subdomain (pods, workloads): labels joined by dots, at most 253 characters. Kubernetes apimachinery, util/validation. */
export const isDnsSubdomain = (text: string): boolean =>
  text.length > 0 && text.length <= SUBDOMAIN_LENGTH && text.split('.').every((part) => LABEL.test(part));

/** A variable's name by the API's strict rule (IsEnvVarName): neither `.` nor anything that begins with `..`. */
export const isEnvName = (text: string): boolean =>
  text.length <= ENV_NAME_LENGTH && ENV_NAME.test(text) && text !== '.' && !text.startsWith('..');

/** A name in the policy file for a cluster or an image's alias. */
export const isCatalogueName = (text: string): boolean => /^[a-z0-9][a-z0-9._-]{0,62}$/.test(text);

/** The nearest valid name, in case a phone or copying spoilt it: lower case, without stray marks at the ends. */
export function nearestName(text: string, isValid: (name: string) => boolean): string | undefined {
  if (text.length > SUBDOMAIN_LENGTH + 2) return undefined;
  const plain = text
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^[^a-z0-9]/, '')
    .replace(/[^a-z0-9]$/, '');
  return plain !== text && isValid(plain) ? plain : undefined;
}
