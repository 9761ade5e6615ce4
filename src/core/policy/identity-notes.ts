import { unmappedOf } from './identity.ts';
import type { Policy } from './policy.ts';

/** What a policy allows that is weak, or denies everybody, in who acts and in who reads along; one sentence each, for `lint-policy`. */
export function identityNotes({ identity, channels }: Pick<Policy, 'identity' | 'channels'>): readonly string[] {
  const mapped = Object.keys(identity.users).length;
  const unmapped = unmappedOf(identity);
  const shared = Object.entries(channels).filter(([, { slackConnect }]) => slackConnect === 'allowed');
  return [
    ...(unmapped === 'deny' && mapped === 0
      ? ['identity.unmapped is deny and identity.users names nobody: nobody may do anything']
      : []),
    ...(unmapped === 'allow' && mapped > 0 && identity.mode === 'serviceAccount'
      ? ["identity.unmapped is allow: whom identity.users does not name acts with kdebug's own rights, unchecked"]
      : []),
    ...shared.map(
      ([id]) =>
        `channels.${id} says slackConnect: allowed: people of another company may read everything that runs print there`,
    ),
  ];
}
