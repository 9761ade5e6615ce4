import { type FileKind, isSecretKind } from '../container/file-kinds.ts';
import { parseImageReference } from '../container/names.ts';
import { asChannelId } from '../ids.ts';
import { type ChannelPolicy, DIRECT, type ImageAlias, type Policy, type Rule } from '../policy/policy.ts';
import { unmappedOf } from './identity.ts';
import { mayBeUsed } from './resolve.ts';
import { TARGET_LOG_WORDS, targetLogOfRule } from './target-log.ts';

/** Images of Docker Hub's own that people debug with: for these a name without a registry is right. */
const OFFICIAL = new Set(
  (
    'almalinux alpine amazoncorretto amazonlinux archlinux bash buildpack-deps busybox debian eclipse-temurin fedora ' +
    'gcc golang haproxy httpd mariadb mongo mysql nginx node oraclelinux perl php postgres python redis rockylinux ruby ' +
    'rust ubuntu valkey'
  ).split(' '),
);

/** Images that a node probably looks for in the wrong registry; one sentence each, for `lint-policy`. */
export const registryNotes = ({ images }: Pick<Policy, 'images'>): readonly string[] =>
  Object.values(images).flatMap(({ alias, reference }) => {
    const { domain, path } = parseImageReference(reference) ?? { domain: '', path: '' };
    const isBare = domain === 'docker.io' && path.startsWith('library/') && !reference.includes('/');
    return isBare && !OFFICIAL.has(path.slice('library/'.length))
      ? [`images.${alias} names no registry, so nodes look for ${domain}/${path}: put your registry before it`]
      : [];
  });

/** Facts about a policy's approver groups that are easy to overlook; one sentence each, for `lint-policy`. */
export function approverNotes({ approvers }: Pick<Policy, 'approvers'>): readonly string[] {
  return Object.entries(approvers).flatMap(([name, { channel }]) =>
    channel === undefined
      ? []
      : [
          `approvers.${name}: every full member of ${channel} may approve, so anyone who can join that channel can too: use a private channel and invite kdebug to it`,
        ],
  );
}

/** Sources of alerts that post cards but look at nothing, or whose senders could decide on it; one sentence each, for `lint-policy`. */
export function alertNotes({ alerts = {}, channels }: Pick<Policy, 'alerts' | 'channels'>): readonly string[] {
  return Object.values(alerts).flatMap(({ name, channel, asks }) => {
    const rules = (channels[channel]?.rules ?? []).filter(({ classes }) => classes.includes('observe'));
    if (rules.length === 0)
      return [`alerts.${name}: no rule of ${channel} has the class observe, so nothing is looked at`];
    if (asks && rules.some(({ approval }) => approval?.count === 1))
      return [
        `alerts.${name}: ask: true, and nobody is the requester: one approver who can also send alerts decides alone on what they ask for; count: 2 asks a second one`,
      ];
    return rules.every(({ approval }) => approval !== undefined) && !asks
      ? [
          `alerts.${name}: every rule of ${channel} for observe wants an approval, so nothing is looked at without ask: true`,
        ]
      : [];
  });
}

/** Identity and channel settings that are weak, or that deny everybody; one sentence each, for `lint-policy`. */
export function identityNotes({ identity, channels }: Pick<Policy, 'identity' | 'channels'>): readonly string[] {
  const mapped = Object.keys(identity.users).length;
  const unmapped = unmappedOf(identity);
  const shared = Object.entries(channels).filter(([, { slackConnect }]) => slackConnect === 'allowed');
  return [
    ...(unmapped === 'deny' && mapped === 0
      ? ['identity.unmapped is deny and identity.users names nobody: nobody may do anything']
      : []),
    ...(unmapped === 'allow' && mapped > 0 && identity.mode === 'serviceAccount'
      ? ["identity.unmapped is allow: people outside identity.users act with kdebug's own rights, unchecked"]
      : []),
    ...shared.map(
      ([id]) =>
        `channels.${id} says slackConnect: allowed: people of another company may read everything that runs print there`,
    ),
  ];
}

/**
 * The real permissions of a rule, one sentence each, for the policy's author: the worst that its classes, profiles and
 * images allow together in an ordinary pod, and what some pods add. Ignores clusters and limits. Pure.
 */
export function effectsOf(rule: Rule, channel: string, policy: Policy): readonly string[] {
  const who = `anyone in ${nameOf(channel, policy.channels)}${approvalText(rule)}`;
  const where = `every pod in ${rule.namespaces.join(', ')}`;
  const images = Object.values(policy.images).filter((image) => mayBeUsed(image, rule) && mayBringBack(image, rule));
  if (isEmpty(rule) || images.length === 0) return ['nobody can use it: a list is empty, or no image fits its classes'];
  return [
    ...ownCommands(images, rule).map((words) => `${who} can ${words} ${where}`),
    ...freeCommands(images, rule).map((words) => `${who} can ${words.replace('{where}', where)}`),
    ...ownLogs(rule, policy.channels[asChannelId(channel)]).map((words) => `${who} can ${words} ${where}`),
    ...(rule.classes.includes('elevated')
      ? [
          `${who} reaches the node, and other pods, from each pod there with access to it (hostPID, hostNetwork, hostPath, privileged)`,
        ]
      : []),
    ...secretFiles(images).map((words) => `${who} gets ${words} ${where}`),
    ...tracers(images).map((names) => `${who} can seize, as a debugger does, the processes of ${where}: ${names}`),
    ...unusable(rule),
    ...unusableTracers(rule, policy),
    ...unusableFiles(rule, policy),
  ];
}

/**
 * Says how much a diagnosis shows of the pods' own logs, if others may read along or if it is more than the chosen
 * lines.
 */
function ownLogs(rule: Rule, channel: ChannelPolicy | undefined): readonly string[] {
  const isShared = channel?.slackConnect === 'allowed';
  const right = targetLogOfRule(rule, { isShared });
  if (right === 'none' || (right === 'errors' && !isShared)) return [];
  return [
    `read ${TARGET_LOG_WORDS[right]} of the application's own log${isShared ? ', as do people of another company,' : ''} in`,
  ];
}

const SECRETS: Readonly<Record<FileKind, string>> = {
  text: '',
  profile: '',
  capture: 'what its network carries',
  heap: 'what its memory holds',
};

const secretsOf = ({ files = [] }: Pick<ImageAlias, 'files'>): readonly string[] =>
  files.flatMap((kind) => (isSecretKind(kind) ? [SECRETS[kind]] : []));

/** Files that may hold secrets need an approval, or `secretFiles: allowed`. */
const mayBringBack = (image: ImageAlias, { approval, secretFiles: allowed }: Rule): boolean =>
  approval !== undefined || allowed === 'allowed' || secretsOf(image).length === 0;

function secretFiles(images: readonly ImageAlias[]): readonly string[] {
  const secrets = [...new Set(images.flatMap(secretsOf))];
  const names = images.filter((image) => secretsOf(image).length > 0).map(({ alias }) => alias);
  return secrets.length === 0
    ? []
    : [`${secrets.join(' and ')}, passwords too, unredacted, by direct message (${names.join(', ')}), of`];
}

const tracers = (images: readonly ImageAlias[]): readonly string[] => {
  const names = images.filter(({ traces }) => traces === true).map(({ alias }) => alias);
  return names.length === 0 ? [] : [names.join(', ')];
};

/** Of its classes, but without the right to seize. */
function unusableTracers(rule: Rule, { images }: Policy): readonly string[] {
  const excluded = Object.values(images).filter(
    (image) => !mayBeUsed(image, rule) && mayBeUsed(image, { ...rule, traces: true }),
  );
  return excluded.map(({ alias }) => `it never allows ${alias}, which seizes its target: that needs traces: true`);
}

function unusableFiles(rule: Rule, { images }: Policy): readonly string[] {
  const excluded = Object.values(images).filter((image) => mayBeUsed(image, rule) && !mayBringBack(image, rule));
  return excluded.map(
    ({ alias }) =>
      `it never allows ${alias}, whose files may hold secrets: that needs an approval, or secretFiles: allowed`,
  );
}

const nameOf = (channel: string, channels: Readonly<Record<string, ChannelPolicy>>): string =>
  channel === DIRECT ? 'channels.direct.members, unseen by others,' : (channels[channel]?.name ?? channel);

const approvalText = ({ approval }: Rule): string =>
  approval ? `, with the approval of ${approval.count} of ${approval.from.join(', ') || 'nobody'},` : '';

const isEmpty = ({ clusters, namespaces, classes, profiles }: Rule): boolean =>
  [clusters, namespaces, classes, profiles].some((list) => list.length === 0);

function ownCommands(images: readonly ImageAlias[], { classes }: Rule): readonly string[] {
  const own = images.filter((image) => classes.includes(image.class)).map(({ alias }) => alias);
  return own.length === 0 ? [] : [`run ${own.join(', ')} (each with its own command) in`];
}

function freeCommands(images: readonly ImageAlias[], { classes, profiles }: Rule): readonly string[] {
  const free = images.filter(({ command }) => command === 'allowed');
  const names = free.map(({ alias }) => alias).join(' or ');
  if (free.length === 0) return [];
  if (profiles.includes('sysadmin') && classes.includes('elevated'))
    return [`take over the node of {where}: any command of ${names}, privileged`];
  const worst = free.filter((image) => mayBeUsed(image, { classes: classes.filter((each) => each !== 'observe') }));
  if (worst.length > 0)
    return [
      `read the environment, files and tokens of {where}, write to its files and end its processes: any command of ${worst
        .map(({ alias }) => alias)
        .join(' or ')}`,
    ];
  return profiles.includes('restricted')
    ? [
        `run any command of ${names} beside {where}, where it cannot see the target; it can reach what the pod's network reaches, and read and fill the pod's shared memory (/dev/shm)`,
      ]
    : [];
}

/** *netadmin* and *sysadmin* are elevated in every pod. */
function unusable({ profiles, classes }: Rule): readonly string[] {
  if (classes.includes('elevated')) return [];
  return profiles
    .filter((profile) => profile === 'netadmin' || profile === 'sysadmin')
    .map((profile) => `it never allows the profile ${profile}: ${profile} is elevated in every pod`);
}
