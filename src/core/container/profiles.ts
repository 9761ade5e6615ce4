import type { SecurityContext } from './ephemeral-container.ts';

/** The debug profiles, as `kubectl debug` names them (kubectl pkg/cmd/debug/profiles.go). */
export const PROFILES = ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'] as const;
export type Profile = (typeof PROFILES)[number];

/** What may be asked for: a profile, or `auto` (the least power that sees the target; design, section 2). */
export type ProfileName = Profile | 'auto';

/** A numeric user and group, as a container runs with. */
export interface UserAndGroup {
  readonly uid: number;
  readonly gid: number;
}

/** Who a *restricted* container is when nothing else is known: the customary "nonroot". */
export const NOBODY: UserAndGroup = { uid: 65532, gid: 65532 };

/**
 * The same for a free command. It may go on for long, and must be another user than a diagnosis that comes later beside it: the same
 * user can write into its output, and so make up its report, or stop it.
 */
export const NOBODY_OF_FREE_COMMANDS: UserAndGroup = { uid: 65533, gid: 65533 };

/** What each profile sets, field for field what kubectl sets; `undefined` where kubectl removes the context. */
const CONTEXTS: Readonly<Record<Profile, SecurityContext | undefined>> = {
  general: { capabilities: { add: ['SYS_PTRACE'] } },
  baseline: undefined,
  restricted: {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  netadmin: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
  sysadmin: { privileged: true },
};

/**
 * The security context of a profile, with the user and group filled in when given. kubectl never fills them in: an image
 * whose user is root then never starts under *restricted* (kubernetes issue 115671), and added capabilities mean nothing
 * for a user other than root (kubectl issue 1650).
 */
export function securityContextOf(profile: Profile, runAs?: UserAndGroup): SecurityContext | undefined {
  const context = CONTEXTS[profile];
  if (!runAs) return context;
  return { ...context, runAsUser: runAs.uid, runAsGroup: runAs.gid };
}
