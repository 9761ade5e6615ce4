import { parseImageReference } from '../core/container/names.ts';
import { isSameReference } from '../core/planning/resolve.ts';
import { DIRECT } from '../core/policy/policy.ts';
import { parseDuration } from '../lib/duration.ts';
import { isObject } from '../lib/object.ts';
import { nearest } from '../lib/text.ts';
import type { Finding } from '../lib/yaml.ts';
import { KEY_SHAPES } from './policy-file.ts';

type Path = Finding['path'];

/**
 * Checks across keys: keys that people choose, names that must exist elsewhere in the file, keys that exclude or need
 * each other. Works on the raw tree even if the schema fails, so that all findings appear together.
 */
export function referenceFindings(tree: unknown): readonly Finding[] {
  const file = mapOf(tree);
  return [
    ...keyFindings(file),
    ...clusterFindings(file),
    ...identityFindings(file),
    ...approverFindings(file),
    ...imageFindings(file),
    ...directFindings(file),
    ...ruleFindings(file),
    ...alertFindings(file),
  ];
}

const RESERVED_KEY = '__proto__';

function keyFindings(file: Tree): readonly Finding[] {
  const identity = mapOf(file.identity);
  const maps: readonly [Path, Tree, keyof typeof KEY_SHAPES][] = [
    [['clusters'], mapOf(file.clusters), 'clusters'],
    [['approvers'], mapOf(file.approvers), 'approvers'],
    [['images'], mapOf(file.images), 'images'],
    [['channels'], mapOf(file.channels), 'channels'],
    [['identity', 'users'], mapOf(identity.users), 'users'],
    [['alerts'], mapOf(file.alerts), 'alerts'],
  ];
  return maps.flatMap(([path, map, kind]) =>
    Object.keys(map)
      .filter((key) => key === RESERVED_KEY || !KEY_SHAPES[kind].pattern.test(key))
      .map((key) => ({ path: [...path, key], at: 'key', message: `is not a valid key: ${KEY_SHAPES[kind].rule}` })),
  );
}

function clusterFindings(file: Tree): readonly Finding[] {
  if (isObject(file.clusters) && Object.keys(file.clusters).length === 0) {
    return [finding(['clusters'], 'must name a cluster')];
  }
  const clusters = Object.entries(mapOf(file.clusters)).filter(([, cluster]) => isObject(cluster));
  const findings = clusters
    .filter(([, cluster]) => (mapOf(cluster).context !== undefined) === (mapOf(cluster).inCluster === true))
    .map(([name]) => finding(['clusters', name], 'must have either a context of the kubeconfig or inCluster: true'));
  const [, ...moreDefaults] = clusters.filter(([, cluster]) => mapOf(cluster).default === true);
  const defaults = moreDefaults.map(([name]) =>
    finding(['clusters', name, 'default'], 'is the second default: only one cluster can be the default'),
  );
  return [...findings, ...defaults];
}

function identityFindings(file: Tree): readonly Finding[] {
  const identity = mapOf(file.identity);
  if (identity.mode === 'impersonate' && identity.user === undefined) {
    return [finding(['identity'], 'needs a user with mode impersonate, for example "slack:{userId}"')];
  }
  if (identity.mode !== 'serviceAccount') return [];
  return ['user', 'groups']
    .filter((key) => identity[key] !== undefined)
    .map((key) => ({ path: ['identity', key], at: 'key', message: 'has no meaning with mode serviceAccount' }));
}

const approverFindings = (file: Tree): readonly Finding[] =>
  Object.entries(mapOf(file.approvers))
    .filter(([, group]) => isObject(group) && !APPROVER_KEYS.some((key) => group[key] !== undefined))
    .map(([name]) => finding(['approvers', name], 'needs a usergroup, users or a channel'));

const APPROVER_KEYS = ['usergroup', 'users', 'channel'] as const;

/** The entry `direct` says so twice, so that no slip of a key opens direct messages; and it says who may. */
const directFindings = (file: Tree): readonly Finding[] =>
  Object.entries(mapOf(file.channels))
    .map(([key, channel]): readonly [string, Tree] => [key, mapOf(channel)])
    .flatMap(([key, { direct, members }]) => {
      const path = ['channels', key];
      if (key !== DIRECT)
        return ['direct', 'members']
          .filter((name) => ({ direct, members })[name] !== undefined)
          .map(
            (name) => ({ path: [...path, name], at: 'key', message: 'belongs to the entry `direct` only' }) as const,
          );
      const isNamed = APPROVER_KEYS.some((name) => mapOf(members)[name] !== undefined);
      return [
        ...(direct === true ? [] : [finding(path, 'needs direct: true, as its key says')]),
        ...(isNamed ? [] : [finding(path, 'needs members, who may use it: a usergroup, users or a channel')]),
      ];
    });

function imageFindings(file: Tree): readonly Finding[] {
  const images = mapOf(file.images);
  const maxTimeout = mapOf(file.limits).maxTimeout ?? '30m';
  const timeouts = Object.entries(images)
    .filter(([, image]) => millis(mapOf(image).timeout) > millis(maxTimeout))
    .map(([name]) => finding(['images', name, 'timeout'], `is longer than limits.maxTimeout (${maxTimeout})`));
  const references = Object.entries(images)
    .filter(([, image]) => !isReference(mapOf(image).image))
    .map(([name]) =>
      finding(
        ['images', name, 'image'],
        'is not an image reference, such as registry.example.com/a/b:1.2 or …@sha256:…',
      ),
    );
  const reports = Object.entries(images)
    .filter(([, image]) => mapOf(image).diagnostic === true && mapOf(image).command === 'allowed')
    .map(([name]) =>
      finding(
        ['images', name, 'diagnostic'],
        "excludes command: allowed: kdebug believes a diagnostic image's report, and whoever writes the command writes the report",
      ),
    );
  const files = Object.entries(images)
    .filter(([, image]) => listOf(mapOf(image).files).length > 0 && mapOf(image).diagnostic !== true)
    .map(([name]) =>
      finding(['images', name, 'files'], 'needs diagnostic: true: kdebug takes files from diagnostic images only'),
    );
  const settings = Object.entries(images)
    .filter(([, image]) => mapOf(image).settings !== undefined && mapOf(image).command === 'allowed')
    .map(([name]) =>
      finding(['images', name, 'settings'], 'excludes command: allowed, which lets people set any variable'),
    );
  const tracers = Object.entries(images)
    .filter(([, image]) => mapOf(image).traces === true && mapOf(image).class === 'observe')
    .map(([name]) =>
      finding(['images', name, 'traces'], 'excludes class: observe: whatever seizes its target stops it for moments'),
    );
  return [
    ...tracers,
    ...unmarkedTracers(images),
    ...timeouts,
    ...references,
    ...reports,
    ...files,
    ...settings,
    ...unknownName(['defaultImage'], file.defaultImage, images, 'alias of images'),
  ];
}

/** One image is a tracer under all of its aliases, or a second name would be a way around the rules. */
function unmarkedTracers(images: Tree): readonly Finding[] {
  const all = Object.entries(images).map(([name, image]) => [name, mapOf(image)] as const);
  const marked = all.filter(([, { traces }]) => traces === true);
  return all
    .filter(([, { traces }]) => traces !== true)
    .flatMap(([name, { image }]) => {
      const twin = marked.find(([, other]) => isSameReference(String(image), String(other.image)));
      const message = twin && `is also the image of ${twin[0]}, which says traces: true: say so here too`;
      return message === undefined ? [] : [finding(['images', name, 'image'], message)];
    });
}

function ruleFindings(file: Tree): readonly Finding[] {
  return Object.entries(mapOf(file.channels)).flatMap(([channel, policy]) => {
    const seen = new Set<unknown>();
    return listOf(mapOf(policy).rules).flatMap((item, index) => {
      const rule = mapOf(item);
      const path = ['channels', channel, 'rules', index];
      const twice = rule.id !== undefined && seen.has(rule.id);
      seen.add(rule.id);
      return [
        ...(twice ? [finding([...path, 'id'], `is the id of an earlier rule of this channel`)] : []),
        ...unknownNames([...path, 'clusters'], rule.clusters, mapOf(file.clusters), 'cluster of clusters'),
        ...unknownNames(
          [...path, 'approval', 'from'],
          mapOf(rule.approval).from,
          mapOf(file.approvers),
          'group of approvers',
        ),
      ];
    });
  });
}

/** Nobody asked for what an alert starts, so it is of class `observe`, and its result has no requester to go to alone. */
function alertFindings(file: Tree): readonly Finding[] {
  const images = mapOf(file.images);
  return Object.entries(mapOf(file.alerts)).flatMap(([name, source]) => {
    const { channel, clusters, image } = mapOf(source);
    const path = ['alerts', name];
    const alias = image ?? file.defaultImage;
    const chosen = typeof alias === 'string' ? mapOf(images[alias]) : {};
    const isWrongImage = alias === undefined || (chosen.class !== undefined && !isForAlerts(chosen));
    return [
      ...unknownName([...path, 'channel'], channel, mapOf(file.channels), 'channel of channels'),
      ...Object.entries(mapOf(clusters)).flatMap(([label, cluster]) =>
        unknownName([...path, 'clusters', label], cluster, mapOf(file.clusters), 'cluster of clusters'),
      ),
      ...unknownName([...path, 'image'], image, images, 'alias of images'),
      ...(isWrongImage
        ? [finding(path, 'needs an image of class observe with diagnostic: true: image, or else defaultImage')]
        : []),
      ...(mapOf(file.output).deliverTo === 'requester'
        ? [finding(path, 'excludes output.deliverTo: requester, because nobody requests what an alert starts')]
        : []),
    ];
  });
}

const isForAlerts = (image: Tree): boolean => image.class === 'observe' && image.diagnostic === true;

const unknownNames = (path: Path, names: unknown, known: Tree, what: string): readonly Finding[] =>
  listOf(names).flatMap((name, index) => unknownName([...path, index], name, known, what));

function unknownName(path: Path, name: unknown, known: Tree, what: string): readonly Finding[] {
  if (typeof name !== 'string' || Object.hasOwn(known, name)) return [];
  const near = nearest(name, Object.keys(known));
  return [finding(path, `"${name}" is no ${what}${near === undefined ? '' : `; did you mean "${near}"?`}`)];
}

const finding = (path: Path, message: string): Finding => ({ path, at: 'value', message });

type Tree = Readonly<Record<string, unknown>>;

const mapOf = (value: unknown): Tree => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** The schema reports values that are not text. */
const isReference = (value: unknown): boolean => typeof value !== 'string' || parseImageReference(value) !== undefined;
const millis = (value: unknown): number =>
  (typeof value === 'string' ? parseDuration(value, Number.POSITIVE_INFINITY) : undefined) ?? Number.NaN;
