import { KdebugError } from '../core/errors.ts';
import { asChannelId, asUserId } from '../core/ids.ts';
import type { Approval, Identity, ImageAlias, Policy, Rule } from '../core/policy/policy.ts';
import type { PolicyFile } from './policy-file.ts';

type RawRule = PolicyFile['channels'][string]['rules'][number];

/** The policy that the program uses, from a file that has no findings. */
export function policyFromFile(file: PolicyFile): Policy {
  const { startDeadline, maxTimeout, ...limits } = file.limits;
  const { retention, ...output } = file.output;
  return {
    clusters: mapValues(file.clusters, ({ context, ...cluster }) => ({ ...cluster, ...given('context', context) })),
    identity: identityOf(file.identity),
    approvers: mapValues(file.approvers, ({ usergroup, users, channel }) => ({
      users: users.map(asUserId),
      ...given('usergroup', usergroup),
      ...given('channel', channel === undefined ? undefined : asChannelId(channel)),
    })),
    images: mapValues(file.images, imageOf),
    ...given('defaultImage', file.defaultImage),
    channels: Object.fromEntries(
      Object.entries(file.channels).map(([id, { name, rules, slackConnect }]) => [
        asChannelId(id),
        { rules: rules.map(ruleOf), slackConnect, ...given('name', name) },
      ]),
    ),
    limits: { ...limits, startDeadlineMs: startDeadline, maxTimeoutMs: maxTimeout },
    output: { ...output, retentionMs: retention },
  };
}

function identityOf({ mode, user, groups, users, unmapped }: PolicyFile['identity']): Identity {
  const people = Object.fromEntries(Object.entries(users).map(([id, name]) => [asUserId(id), name]));
  const rest = { users: people, ...given('unmapped', unmapped) };
  if (mode === 'serviceAccount') return { mode, ...rest };
  // `referenceFindings` has refused such a file; should it ever not, the bot's own account must not act instead.
  if (user === undefined) throw new KdebugError('internal_error', { detail: 'impersonation without a user' });
  return { mode, user, groups, ...rest };
}

const imageOf = (image: PolicyFile['images'][string], alias: string): ImageAlias => ({
  alias,
  reference: image.image,
  class: image.class,
  command: image.command,
  diagnostic: image.diagnostic,
  ...given('timeoutMs', image.timeout),
});

const ruleOf = ({ batch, approval, ...rule }: RawRule): Rule => ({
  ...rule,
  ...given('batch', batch),
  ...given('approval', approval && approvalOf(approval)),
});

const approvalOf = ({ expires, ...approval }: NonNullable<RawRule['approval']>): Approval => ({
  ...approval,
  expiresMs: expires,
});

const mapValues = <From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

/** An optional field: present only when there is a value. */
const given = <Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: Value });
