import { z } from 'zod';
import { FILE_KINDS } from '../core/container/file-kinds.ts';
import { IMAGE_CLASSES } from '../core/container/image-class.ts';
import { PROFILES } from '../core/container/profiles.ts';
import { ALERT_FORMATS, LINK_VARIABLES, ONCE_MORE_KINDS, TARGET_LOG_RIGHTS } from '../core/policy/policy.ts';
import { DEFAULT_NAMES } from '../core/shown-names.ts';
import { DURATION, parseDuration } from '../lib/duration.ts';
import { problemOfPattern, problemOfPatterns } from '../lib/patterns/linear-pattern.ts';
import { quantityOf } from '../lib/quantity.ts';

/**
 * The policy file's own shape (design, section 3.2): strict, with every default. `policy-references.ts` checks what
 * spans keys (names that must exist elsewhere, names of keys). `npm run gen` makes `schema/policy.schema.json` from
 * this.
 */

/** Patterns for the keys that people choose, and the message for a key that does not match. */
export const KEY_SHAPES = {
  clusters: { pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/, rule: 'a name is lower-case letters, digits, ".", "_" and "-"' },
  approvers: { pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/, rule: 'a name is lower-case letters, digits, ".", "_" and "-"' },
  images: { pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/, rule: 'an alias is lower-case letters, digits, ".", "_" and "-"' },
  channels: {
    pattern: /^(?:[CG][A-Z0-9]{2,20}|direct)$/,
    rule: "channels are keyed by id (C… or G…), never by name: the id stands at the end of the channel's details in Slack",
  },
  users: {
    pattern: /^(?:[UW][A-Z0-9]{2,20}|alert:[a-z0-9][a-z0-9-]{0,39})$/,
    rule: 'people are keyed by Slack user id (U… or W…), a source of alerts by alert:NAME',
  },
  alerts: { pattern: /^[a-z0-9][a-z0-9-]{0,39}$/, rule: 'a name is lower-case letters, digits and "-", at most 40' },
} as const;

const record = <Value extends z.ZodType>(kind: keyof typeof KEY_SHAPES, value: Value) =>
  z.record(z.string(), value).meta({ propertyNames: { pattern: KEY_SHAPES[kind].pattern.source } });

const matching = (pattern: RegExp, message: string) => z.string().regex(pattern, { error: message });

const duration = (maxDays: number) =>
  matching(DURATION, 'must be a duration such as 30s, 15m, 2h or 7d')
    .transform((text) => parseDuration(text, Number.POSITIVE_INFINITY) ?? Number.NaN)
    .refine((ms) => ms <= maxDays * 86_400_000, { error: `must be at most ${maxDays}d` });

/** One number and one binary unit, as in `100Mi`. */
const SIZE = /^[1-9]\d{0,6}[KMG]i$/;

const size = (maxGi: number) =>
  matching(SIZE, 'must be a size such as 512Ki, 100Mi or 2Gi')
    .transform((text) => quantityOf(text) ?? Number.NaN)
    .refine((bytes) => bytes <= maxGi * 1_024 ** 3, { error: `must be at most ${maxGi}Gi` });

const count = (max: number) => z.int().min(1).max(max);

const channelId = matching(/^[CG][A-Z0-9]{2,20}$/, 'must be a Slack channel id (C… or G…)');
const userId = matching(/^[UW][A-Z0-9]{2,20}$/, 'must be a Slack user id (U… or W…)');

/** RFC 1123 label, or a prefix and `*`. */
const namespace = matching(
  /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$|^[a-z0-9][-a-z0-9]{0,61}\*$/,
  'must be a namespace in full, or a beginning and "*" ("shop-*"); "*" alone covers nothing',
).refine((pattern) => !(pattern.endsWith('*') && pattern.startsWith('kube-')), {
  error: 'namespaces of Kubernetes itself must be named in full',
});

const KUBERNETES_NAME = 'must be visible characters without spaces, at most 253';

/** A Kubernetes user or group. Nobody can impersonate Kubernetes' own (`system:…`). */
const kubernetesName = matching(/^[\x21-\x7e]{1,253}$/, KUBERNETES_NAME)
  .refine((name) => !/^system:/i.test(name), { error: 'system: users and groups cannot be impersonated' })
  .refine((name) => [...name.matchAll(/\{(.*?)\}/g)].every(([, key]) => /^(?:user|team|channel)Id$/.test(key ?? '')), {
    error: 'knows {userId}, {teamId} and {channelId} only',
  });

const Cluster = z.strictObject({
  context: z.string().min(1).max(253).optional().describe('a context of the kubeconfig'),
  inCluster: z.boolean().default(false).describe('the cluster that kdebug itself runs in'),
  default: z.boolean().default(false).describe('for commands without --cluster'),
});

const Identity = z.strictObject({
  mode: z.enum(['impersonate', 'serviceAccount']),
  user: kubernetesName.optional().describe('a template: {userId}, {teamId}, {channelId}'),
  groups: z.array(kubernetesName).max(20).default([]),
  users: record('users', kubernetesName).default({}).describe('exceptions: Slack user id to Kubernetes user'),
  unmapped: z
    .enum(['deny', 'allow'])
    .optional()
    .describe('people whom `users` does not name; default: deny with mode serviceAccount where `users` names anybody'),
});

const ApproverGroup = z.strictObject({
  usergroup: matching(/^S[A-Z0-9]{2,20}$/, 'must be a Slack user group id (S…)').optional(),
  users: z.array(userId).default([]),
  channel: channelId
    .optional()
    .describe('every full member of this channel may decide, and requests are shown there as well'),
});

/** A variable that makes a loader, a shell or a runtime run other code, or that is kdebug's own. */
const NO_SETTING =
  /^(?:KDEBUG_|LD_|DYLD_|BASH|SHELL|PYTHON|PERL|RUBY|NODE_|JAVA_|JDK_|GLIBC_|OPENSSL_|XDG_|DOTNET_|LUA_|CURL_|GO[A-Z]*$|(?:PATH|HOME|IFS|ENV|PS4|GCONV_PATH|CLASSPATH|ZDOTDIR)$)/;

const setting = matching(/^[A-Z][A-Z0-9_]{0,62}$/, 'a setting is upper-case letters, digits and "_"').refine(
  (name) => !NO_SETTING.test(name),
  { error: 'belongs to kdebug, or can change which code the image runs' },
);

const Image = z.strictObject({
  image: z.string().min(1).max(512).describe('an image reference; best with a digest'),
  class: z
    .enum(IMAGE_CLASSES)
    .describe('observe reads, intrusive slows or freezes, elevated has more power than its target'),
  command: z
    .enum(['allowed', 'fixed'])
    .default('fixed')
    .describe('whether people may give their own command and environment'),
  diagnostic: z
    .boolean()
    .default(false)
    .describe('its report is believed: a diagnostic image, which runs its own command only'),
  traces: z
    .boolean()
    .default(false)
    .describe(
      'it seizes its target (ptrace), as a debugger does: at least intrusive, and only for rules with traces: true',
    ),
  files: z
    .array(z.enum(FILE_KINDS))
    .max(FILE_KINDS.length)
    .optional()
    .describe('kinds of files that it may hand back (docs/diagnostic-images.md); needs diagnostic: true'),
  settings: z
    .array(setting)
    .min(1)
    .max(8)
    .optional()
    .describe('variables that people may set with --env=NAME=VALUE although the command is fixed'),
  timeout: duration(1).optional(),
  description: z
    .string()
    .min(1)
    .max(120)
    .optional()
    .describe(`what it does, in one short sentence, for ${DEFAULT_NAMES.command} images and the form`),
});

const Approval = z.strictObject({
  from: z.array(z.string()).describe('groups of approvers; an empty list is nobody'),
  count: count(10).default(1),
  expires: duration(7).prefault('15m'),
  reason: z.enum(['required', 'optional']).default('optional').describe("the requester's --reason"),
  voteReason: z.enum(['required', 'optional']).default('optional').describe("the approver's"),
  grants: z
    .enum(['allowed', 'denied'])
    .default('denied')
    .describe('whether an approver may let the requester repeat the same command for a while'),
});

const Rule = z.strictObject({
  id: matching(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'an id is lower-case letters, digits, ".", "_" and "-"'),
  clusters: z.array(z.string()),
  namespaces: z.array(namespace),
  classes: z.array(z.enum(IMAGE_CLASSES)),
  profiles: z.array(z.enum(PROFILES)),
  batch: z.strictObject({ maxPods: count(10_000), maxParallelism: count(10) }).optional(),
  secretFiles: z
    .enum(['approval', 'allowed'])
    .default('approval')
    .describe(
      'packet captures and heap dumps, which nothing can redact: only with an approval, or also by a rule without one; never of a batch',
    ),
  traces: z
    .boolean()
    .default(false)
    .describe('whether the rule also allows images with traces: true, which seize their target, within its classes'),
  targetLog: z
    .enum(TARGET_LOG_RIGHTS)
    .optional()
    .describe(
      "what a diagnosis reads and shows of the log of the pod's own containers: nothing, the chosen lines that say what is wrong, or also the newest lines; of several rules for a namespace the widest that is written counts; default: errors, and none while another company shares the channel",
    ),
  onceMore: z
    .array(z.enum(ONCE_MORE_KINDS))
    .max(ONCE_MORE_KINDS.length)
    .optional()
    .describe('of these kinds, too, a program may run a second time beside its pod; always with an approval'),
  approval: Approval.optional(),
});

const owner = z.string().min(1).max(120).optional();

const Channel = z.strictObject({
  name: z.string().max(100).optional().describe('shown, never matched'),
  owner: owner.describe('whom people of this channel ask for a change of its rules; default: the owner of the policy'),
  slackConnect: z
    .enum(['denied', 'allowed'])
    .default('denied')
    .describe('whether kdebug answers here while the channel is shared with another company'),
  direct: z
    .literal(true)
    .optional()
    .describe('with the key `direct` only: people may use kdebug in a direct message with it'),
  members: ApproverGroup.optional().describe('with the key `direct` only: who may'),
  rules: z.array(Rule).max(200),
});

const Limits = z.strictObject({
  ephemeralContainersPerPod: count(1_000).default(10),
  ephemeralContainersPerPodAndUser: count(1_000).default(5).describe('what one person may add to a pod'),
  runsPerUserPerMinute: count(10_000).default(6),
  runsPerUser: count(10_000).default(7).describe('of one person, in flight at the same time'),
  pendingApprovalsPerUser: count(10_000).default(5).describe('of one person, waiting at the same time'),
  runsPerChannel: count(10_000).default(20).describe('in flight at the same time'),
  runsPerCluster: count(10_000).default(200).describe('in flight at the same time'),
  startDeadline: duration(1).prefault('2m'),
  maxTimeout: duration(1).prefault('30m'),
  maxLogBytes: size(16).prefault('100Mi').describe('without the files that an image hands back'),
  maxFileBytes: size(1).prefault('32Mi').describe('of one file that an image hands back'),
  maxFiles: count(100).default(8).describe('of one run'),
  maxFilesBytes: size(1).prefault('64Mi').describe('of all files of one run'),
});

/** Who knows the image and the cluster knows these: of the system, of Node's image, of settings, and those of each Service of Kubernetes. */
const KNOWN_TO_MANY =
  /^(?:PATH|HOME|HOSTNAME|USER|LOGNAME|PWD|OLDPWD|SHELL|SHLVL|TERM|TZ|LANG|LC_.*|LOG_LEVEL|NODE_.*|NPM_.*|YARN_.*|PORT|.*_(?:PROXY|VERSION|PORT|PORT_.*|SERVICE_HOST|SERVICE_PORT.*))$/;

/** No variable of kdebug's own: whoever knows the secret of an alert source must know no other. */
const secretEnv = matching(/^[A-Z][A-Z0-9_]{2,62}$/, 'must be the name of an environment variable')
  .refine((name) => !/^(?:KDEBUG|SLACK|REDIS|KUBE)/.test(name), {
    error: "must be a variable of its own, not one of kdebug's",
  })
  .refine((name) => !KNOWN_TO_MANY.test(name), {
    error: 'must be a variable that holds a secret: this one is no secret',
  });

const labelValues = z.array(z.string().min(1).max(253)).max(50);

const AlertSource = z.strictObject({
  source: z.enum(ALERT_FORMATS).describe('who sends them, and so their format'),
  secretEnv: secretEnv.describe('the environment variable with the shared secret, at least 16 characters'),
  channel: channelId.describe('where the alert is posted; the rules of this channel decide on the look'),
  clusters: z
    .record(z.string().max(253), z.string())
    .optional()
    .describe(
      'value of the label `cluster` to cluster of `clusters`; without it, alerts without that label are about the default cluster',
    ),
  match: z
    .record(z.string().max(128), labelValues)
    .default({})
    .describe('labels that an alert must have: a value in full, or a beginning and "*"'),
  image: z.string().optional().describe('an alias of class observe; default: defaultImage'),
  cooldown: duration(7).prefault('1h').describe('no further look at the same workload for an alert of the same name'),
  perGroup: count(10).default(2).describe('how many pods of one notification to look at'),
  ask: z
    .boolean()
    .default(false)
    .describe('where the rule wants an approval: post its card; default: start nothing there'),
});

const MAX_LINKS = 3;

/** The host is the policy's own: no pod chooses where people go. */
const linkTemplate = matching(
  /^https:\/\/[^\s/?#{}@]+(?:[/?#][!-~]*)?$/,
  'must be an https address whose host has no variable',
)
  .max(1_000)
  .refine(
    (url) => [...url.matchAll(/\{(.*?)\}/g)].every(([, name]) => LINK_VARIABLES.some((known) => known === name)),
    { error: `knows ${LINK_VARIABLES.map((name) => `{${name}}`).join(', ')} only` },
  )
  // Slack refuses a whole message for one button that leads to no address: no result would be posted any more.
  .refine((url) => URL.canParse(url), { error: 'is no address: its host or port cannot be' });

const isSeen = (label: string): boolean => /[^\p{Z}\p{C}]/u.test(label);

const pattern = z.string().superRefine((source, context) => {
  const problem = problemOfPattern(source);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const patterns = z
  .array(pattern)
  .max(50)
  .superRefine((sources, context) => {
    const problem = problemOfPatterns(sources);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

const Output = z.strictObject({
  redact: patterns.default([]).describe('further regular expressions (RE2, as in Go) to redact'),
  retention: duration(365).prefault('7d'),
  deliverTo: z
    .enum(['thread', 'requester'])
    .default('thread')
    .describe('where results and logs go: the thread, or a direct message to the requester'),
});

export const PolicyFile = z.strictObject({
  version: z.literal(1),
  owner: owner.describe('whom people ask for a change of this policy: a team, a channel or a person, in words'),
  clusters: record('clusters', Cluster),
  identity: Identity,
  approvers: record('approvers', ApproverGroup).default({}),
  images: record('images', Image).default({}),
  defaultImage: z.string().optional().describe(`the alias for a bare \`${DEFAULT_NAMES.command} POD\``),
  channels: record('channels', Channel).default({}),
  limits: Limits.prefault({}),
  output: Output.prefault({}),
  links: z
    .record(z.string().min(1).max(30), linkTemplate)
    .default({})
    .refine((links) => Object.keys(links).length <= MAX_LINKS, { error: `has at most ${MAX_LINKS}` })
    .refine((links) => Object.keys(links).every(isSeen), { error: 'has a label without a visible character' })
    .describe('where people look next, under every result: {cluster}, {namespace}, {pod}, {workload}, {from}, {to}'),
  alerts: record('alerts', AlertSource).default({}).describe('whose alerts start a look by themselves'),
});

/** A file of the right shape with defaults; times in milliseconds. */
export type PolicyFile = z.output<typeof PolicyFile>;
