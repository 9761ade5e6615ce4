import { defined, own } from '../../lib/object.ts';
import { nearest } from '../../lib/text.ts';
import type { EnvVar } from '../container/ephemeral-container.ts';
import type { FileKind } from '../container/file-kinds.ts';
import { worseClass } from '../container/image-class.ts';
import { type ImageReference, imageRepository, parseImageReference } from '../container/names.ts';
import type { Plan } from '../container/plan.ts';
import { PROFILES, type Profile } from '../container/profiles.ts';
import type { ReasonCode } from '../errors.ts';
import { channelPolicy, type ImageAlias, type Policy, type Rule } from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';

export interface ResolvedNamespace {
  readonly kind: 'ok';
  readonly cluster: string;
  readonly namespace: string;
}

/**
 * The cluster and namespace of a request. Without `-n`: the first namespace that the channel's rules for that cluster
 * name in full, else `default`. Denies a channel or namespace that no rule names before kdebug reads the cluster, so
 * that no answer reveals which pods exist.
 */
export function resolveNamespace(
  request: Pick<RunRequest, 'cluster' | 'namespace'>,
  channelId: string,
  policy: Policy,
): ResolvedNamespace | NotResolved {
  const rules = channelPolicy(policy, channelId)?.rules;
  if (!rules) return { kind: 'deny', code: 'channel_unknown', subject: channelId };
  const resolved = resolveCluster(request.cluster, policy);
  if (resolved.kind === 'deny') return resolved;
  const { cluster } = resolved;
  const here = rules.filter((rule) => rule.clusters.includes(cluster));
  if (here.length === 0) return { kind: 'deny', code: 'cluster_not_allowed', subject: cluster };
  const namespace = request.namespace ?? defaultNamespace(here);
  const named = here.some((rule) => rule.namespaces.some((pattern) => matchesNamespace(pattern, namespace)));
  return named
    ? { kind: 'ok', cluster, namespace }
    : { kind: 'deny', code: 'namespace_not_allowed', subject: namespace };
}

const defaultNamespace = (rules: readonly Rule[]): string =>
  rules.flatMap(({ namespaces }) => namespaces).find((pattern) => !pattern.endsWith('*')) ?? 'default';

export interface NotResolved {
  readonly kind: 'deny';
  readonly code: ReasonCode;
  /** The wrong word; empty when it is missing. */
  readonly subject: string;
  readonly nearest?: string;
}

/**
 * The catalogue entry of an image: by alias, or by a reference to an alias's image (the first in the file). Without an
 * image, the policy's `defaultImage`.
 */
export function resolveImage(
  image: string | undefined,
  policy: Policy,
): { readonly kind: 'ok'; readonly alias: ImageAlias } | NotResolved {
  const wanted = image ?? policy.defaultImage;
  if (wanted === undefined) return { kind: 'deny', code: 'image_required', subject: '' };
  const aliases = Object.values(policy.images);
  const alias = own(policy.images, wanted) ?? aliases.find(({ reference }) => isSameReference(wanted, reference));
  if (alias) return { kind: 'ok', alias };
  return denied('image_not_allowed', wanted, Object.keys(policy.images));
}

/** No alias of a catalogue can have this name. */
const OWN_IMAGE = 'once more';

/** Stands for the image that a pod's own container runs, which no catalogue needs to have. */
export const ownImage = (reference: string): ImageAlias => ({
  alias: OWN_IMAGE,
  reference,
  class: 'elevated',
  command: 'fixed',
});

/**
 * Compares two image references, however spelled: `debian` is `docker.io/library/debian:latest`. Next to a digest the
 * tag does not count (the runtime ignores it); a tag never equals a digest.
 */
export function isSameReference(a: string, b: string): boolean {
  const [one, other] = [parseImageReference(a), parseImageReference(b)];
  return (
    one !== undefined &&
    other !== undefined &&
    imageRepository(one) === imageRepository(other) &&
    version(one) === version(other)
  );
}

const version = ({ tag = 'latest', digest }: ImageReference): string => digest ?? tag;

/** The words that a person may write for a container. */
type Words = Pick<Plan, 'command' | 'env' | 'argumentsOnly'>;

/** Without `command: allowed`, a plan may have only the image's own words. */
export const mayUseCommand = (alias: ImageAlias, plan: Words): boolean =>
  alias.command === 'allowed' || !usesOwnWords(plan, alias);

/**
 * True if a person supplies a command, arguments or environment, so that the image does what they wrote. A setting that
 * the alias names only chooses among the things that the image does anyway.
 */
export const usesOwnWords = (
  { command, env, argumentsOnly }: Words,
  alias: Pick<ImageAlias, 'settings'> | undefined,
): boolean => command.length > 0 || argumentsOnly || env.some((variable) => !isSetting(variable, alias));

/** One line of visible characters. */
const SETTING_VALUE = /^[\x20-\x7e]{0,256}$/;

const isSetting = ({ name, value }: EnvVar, alias: Pick<ImageAlias, 'settings'> | undefined): boolean =>
  alias?.settings?.includes(name) === true && SETTING_VALUE.test(value);

/**
 * Names the variable that is no setting of an image that takes settings alone, with the reason; never its value.
 * Undefined: none.
 */
export function problemOfSettings({ alias, command, settings = [] }: ImageAlias, { env }: Words): string | undefined {
  const wrong = env.find((variable) => !isSetting(variable, { settings }));
  if (!wrong || command === 'allowed' || settings.length === 0) return undefined;
  return settings.includes(wrong.name)
    ? `the value of ${wrong.name}`
    : `${wrong.name}; ${alias} has ${settings.join(', ')}`;
}

/**
 * kdebug believes the report of a plan's container if all of this holds: the policy calls its image diagnostic now, the
 * plan still has the alias's image, and its command, arguments and environment are all the image's own, but for
 * settings that the alias names.
 */
export function isDiagnostic(
  plan: Pick<Plan, 'imageAlias' | 'image'> & Words,
  policy: Pick<Policy, 'images'>,
): boolean {
  const alias = own(policy.images, plan.imageAlias);
  return alias?.diagnostic === true && !usesOwnWords(plan, alias) && isSameReference(plan.image, alias.reference);
}

/**
 * The kinds of files to take from a plan's container: those that the plan names and the policy still does. None of a
 * plan that names kinds but is no longer believed: its files must not become text, which others read. Undefined: its log
 * was never believed, so a frame in it is text.
 */
export function believedFiles(
  plan: Pick<Plan, 'imageAlias' | 'image' | 'command' | 'env' | 'argumentsOnly' | 'files'>,
  policy: Pick<Policy, 'images'>,
): readonly FileKind[] | undefined {
  if (!isDiagnostic(plan, policy)) return plan.files && [];
  const now = own(policy.images, plan.imageAlias)?.files ?? [];
  return (plan.files ?? []).filter((kind) => now.includes(kind));
}

/** The named cluster, else the default one, else the only one. */
export function resolveCluster(
  name: string | undefined,
  policy: Policy,
): { readonly kind: 'ok'; readonly cluster: string } | NotResolved {
  const names = Object.keys(policy.clusters);
  if (name !== undefined)
    return names.includes(name) ? { kind: 'ok', cluster: name } : denied('cluster_unknown', name, names);
  const chosen = names.find((each) => policy.clusters[each]?.default) ?? (names.length === 1 ? names[0] : undefined);
  if (chosen !== undefined) return { kind: 'ok', cluster: chosen };
  return { kind: 'deny', code: 'cluster_required', subject: '' };
}

function denied(code: ReasonCode, subject: string, candidates: readonly string[]): NotResolved {
  const near = nearest(subject, candidates);
  return { kind: 'deny', code, subject, ...defined({ nearest: near }) };
}

/**
 * A rule's namespace is a name, or a prefix ending in `*`. A prefix never covers `kube-…` (reserved for Kubernetes' own
 * namespaces): rules must name those in full. `*` alone covers nothing.
 */
export function matchesNamespace(pattern: string, namespace: string): boolean {
  if (!pattern.endsWith('*')) return pattern === namespace;
  const prefix = pattern.slice(0, -1);
  return prefix !== '' && !namespace.startsWith('kube-') && namespace.startsWith(prefix);
}

/** The names in the rules of a channel, from which people there may choose. Each request is decided on its own. */
export interface ChannelOffer {
  readonly clusters: readonly string[];
  /** Names, and prefixes ending in `*`, of the cluster. */
  readonly namespaces: readonly string[];
  /** Images that a rule for the namespace can match. */
  readonly images: readonly ImageAlias[];
  readonly profiles: readonly Profile[];
}

/** For one cluster and namespace; where one is not given, for all that the rules name. */
export function channelOffer(
  policy: Policy,
  channelId: string,
  { cluster, namespace }: { readonly cluster?: string; readonly namespace?: string },
): ChannelOffer {
  const rules = channelPolicy(policy, channelId)?.rules ?? [];
  const ofCluster = rules.filter(({ clusters }) => cluster === undefined || clusters.includes(cluster));
  const here = ofCluster.filter((rule) => namespace === undefined || covers(rule, namespace));
  return {
    clusters: [...new Set(rules.flatMap(({ clusters }) => clusters))],
    namespaces: [...new Set(ofCluster.flatMap(({ namespaces }) => namespaces))],
    images: Object.values(policy.images).filter((image) => here.some((rule) => mayBeUsed(image, rule))),
    profiles: PROFILES.filter((profile) => here.some(({ profiles }) => profiles.includes(profile))),
  };
}

const covers = ({ namespaces }: Rule, namespace: string): boolean =>
  namespaces.some((pattern) => matchesNamespace(pattern, namespace));

/**
 * A rule can match some launch of the image: a launch has its image's class or worse, so a rule for a worse class will do; and
 * a tracer needs its own right.
 */
export const mayBeUsed = (image: ImageAlias, { classes, traces }: Pick<Rule, 'classes' | 'traces'>): boolean =>
  classes.some((each) => worseClass(each, image.class) === each) && (traces === true || image.traces !== true);
