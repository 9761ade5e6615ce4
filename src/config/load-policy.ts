import { readFileSync } from 'node:fs';
import { KdebugError } from '../core/errors.ts';
import { sha256 } from '../core/hash.ts';
import { asChannelId, asUserId } from '../core/ids.ts';
import type {
  AlertSource,
  Approval,
  ApproverGroup,
  Identity,
  ImageAlias,
  Policy,
  Rule,
} from '../core/policy/policy.ts';
import { defined } from '../lib/object.ts';
import { type Finding, type Position, pathText } from '../lib/yaml.ts';
import { PolicyFile } from './policy-file.ts';
import { placeholderFindings } from './policy-placeholders.ts';
import { referenceFindings } from './policy-references.ts';
import { schemaFindings } from './schema-findings.ts';
import { readYaml, type YamlTree } from './yaml-tree.ts';

export interface LoadedPolicy {
  readonly kind: 'ok';
  readonly policy: Policy;
  /** SHA-256 of the file's text. */
  readonly hash: string;
  /**
   * The placeholders that are still an example's and not the reader's, written as problems are. Valid, but of no use to
   * anybody.
   */
  readonly placeholders: readonly string[];
}

export interface InvalidPolicy {
  readonly kind: 'invalid';
  /** One line each, `file:line:column path: message`, in the order of the file; all of them, not just the first. */
  readonly problems: readonly string[];
  /** The place of the first of them; undefined: the file cannot be read, or is too long. */
  readonly first?: PolicyMistake;
}

/** The place of a mistake. Names no value of the file, so anybody may see it. */
export interface PolicyMistake extends Position {
  /** The path of the wrong field, as people write it. Undefined: the text is not YAML, or the whole file is wrong. */
  readonly field?: string;
}

/** People write policies: a longer one is a mistake, and reading it would stall the bot. */
const MAX_CHARACTERS = 1_048_576;

/** Reads and checks a policy file. Never throws: an unreadable file is a problem like any other. */
export function loadPolicy(path: string): LoadedPolicy | InvalidPolicy {
  try {
    return parsePolicy(readFileSync(path, 'utf8'), path);
  } catch (error) {
    return { kind: 'invalid', problems: [`${path}: cannot be read (${errorCode(error)})`] };
  }
}

/** Checks the text of a policy file; problems call it `file`. */
export function parsePolicy(text: string, file: string): LoadedPolicy | InvalidPolicy {
  if (text.length > MAX_CHARACTERS) return { kind: 'invalid', problems: [`${file}: is longer than 1 MiB`] };
  const tree = readYaml(text);
  if (tree.data === undefined) return invalid(file, tree.syntax);

  const parsed = PolicyFile.safeParse(tree.data, { reportInput: true });
  const findings = [...schemaFindings(parsed.error?.issues ?? []), ...referenceFindings(tree.data)];
  const locate = (finding: Finding): LocatedFinding => located(tree, finding);
  const problems = [...tree.syntax, ...findings.map(locate)];
  if (!parsed.success || problems.length > 0) return invalid(file, problems);
  const placeholders = inOrder(file, placeholderFindings(tree.data).map(locate));
  return { kind: 'ok', policy: policyFromFile(parsed.data), hash: sha256(text), placeholders };
}

type LocatedFinding = PolicyMistake & { readonly message: string };

function located(tree: YamlTree, finding: Finding): LocatedFinding {
  const path = pathText(finding.path);
  return {
    ...tree.locate(finding),
    ...defined({ field: path === '' ? undefined : path }),
    message: path === '' ? `the file ${finding.message}` : `${path}: ${finding.message}`,
  };
}

function invalid(file: string, problems: readonly LocatedFinding[]): InvalidPolicy {
  const [first] = problems.toSorted(byPosition).map(({ message: _, ...mistake }) => mistake);
  return { kind: 'invalid', problems: inOrder(file, problems), ...defined({ first }) };
}

const byPosition = (a: Position, b: Position): number => a.line - b.line || a.column - b.column;

const inOrder = (file: string, problems: readonly LocatedFinding[]): readonly string[] => [
  ...new Set(problems.toSorted(byPosition).map(({ line, column, message }) => `${file}:${line}:${column} ${message}`)),
];

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

type RawRule = PolicyFile['channels'][string]['rules'][number];

function policyFromFile(file: PolicyFile): Policy {
  const { startDeadline, maxTimeout, ...limits } = file.limits;
  const { retention, ...output } = file.output;
  return {
    clusters: mapValues(file.clusters, ({ context, ...cluster }) => ({ ...cluster, ...defined({ context }) })),
    identity: identityOf(file.identity),
    approvers: mapValues(file.approvers, groupOf),
    images: mapValues(file.images, imageOf),
    ...defined({ defaultImage: file.defaultImage, owner: file.owner }),
    channels: Object.fromEntries(
      Object.entries(file.channels).map(([id, { name, owner, rules, slackConnect, members }]) => [
        asChannelId(id),
        { rules: rules.map(ruleOf), slackConnect, ...defined({ name, owner, members: members && groupOf(members) }) },
      ]),
    ),
    limits: { ...limits, startDeadlineMs: startDeadline, maxTimeoutMs: maxTimeout },
    output: { ...output, retentionMs: retention },
    alerts: mapValues(file.alerts, alertSourceOf),
    links: file.links,
  };
}

const groupOf = ({ usergroup, users, channel }: PolicyFile['approvers'][string]): ApproverGroup => ({
  users: users.map(asUserId),
  ...defined({ usergroup, channel: channel === undefined ? undefined : asChannelId(channel) }),
});

function identityOf({ mode, user, groups, users, unmapped }: PolicyFile['identity']): Identity {
  const people = Object.fromEntries(Object.entries(users).map(([id, name]) => [asUserId(id), name]));
  const rest = { users: people, ...defined({ unmapped }) };
  if (mode === 'serviceAccount') return { mode, ...rest };
  // `referenceFindings` refuses such a file. If it ever fails to, the bot's own account must not act instead.
  if (user === undefined)
    throw new KdebugError('internal_error', { detail: 'the policy impersonates but names no user' });
  return { mode, user, groups, ...rest };
}

const imageOf = (image: PolicyFile['images'][string], alias: string): ImageAlias => ({
  alias,
  reference: image.image,
  class: image.class,
  command: image.command,
  diagnostic: image.diagnostic,
  ...defined({
    traces: image.traces || undefined,
    files: image.files?.length ? image.files : undefined,
    settings: image.settings,
    timeoutMs: image.timeout,
    description: image.description,
  }),
});

const alertSourceOf = (
  { source, channel, cooldown, ask, clusters, image, ...rest }: PolicyFile['alerts'][string],
  name: string,
): AlertSource => ({
  ...rest,
  name,
  format: source,
  channel: asChannelId(channel),
  cooldownMs: cooldown,
  asks: ask,
  ...defined({ clusters, image }),
});

const ruleOf = ({ batch, targetLog, onceMore, approval, traces, ...rule }: RawRule): Rule => ({
  ...rule,
  ...defined({ batch, targetLog, onceMore, traces: traces || undefined, approval: approval && approvalOf(approval) }),
});

const approvalOf = ({ expires, ...approval }: NonNullable<RawRule['approval']>): Approval => ({
  ...approval,
  expiresMs: expires,
});

const mapValues = <From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
