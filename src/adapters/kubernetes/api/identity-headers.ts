import { KdebugError } from '../../../core/errors.ts';
import type { ActingAs } from '../../../flow/ports/cluster.ts';

export type HeaderLines = Record<string, string | string[]>;

const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Users and groups that start with `system:` are refused here as well as by RBAC, because a policy with a mistake in a
 * template must never act as the cluster itself. @throws KdebugError identity_reserved
 */
export function checkIdentity(user: string, groups: readonly string[]): void {
  for (const name of [user, ...groups]) {
    if (!PRINTABLE.test(name) || name.toLowerCase().startsWith('system:')) {
      throw new KdebugError('identity_reserved', { detail: JSON.stringify(name.slice(0, 80)) });
    }
  }
}

/**
 * The impersonation headers of a request (Kubernetes "User impersonation"): one user, a line a group, and the Slack user
 * as an extra for the audit log. @throws KdebugError identity_reserved
 */
export function identityHeaders(actingAs: ActingAs | undefined): HeaderLines {
  if (!actingAs) return {};
  checkIdentity(actingAs.user, actingAs.groups);
  if (!PRINTABLE.test(actingAs.slackUser)) throw new KdebugError('identity_reserved', { detail: 'Slack user' });
  return {
    'Impersonate-User': actingAs.user,
    ...(actingAs.groups.length > 0 && { 'Impersonate-Group': [...actingAs.groups] }),
    'Impersonate-Extra-slack-user': actingAs.slackUser,
  };
}
