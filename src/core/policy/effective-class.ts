import type { SecurityContext } from '../container/ephemeral-container.ts';
import type { Plan } from '../container/plan.ts';
import { type Profile, securityContextOf } from '../container/profiles.ts';
import { IMAGE_CLASSES, type ImageClass } from './policy.ts';

/**
 * The class of harm that a plan comes to: the alias's or the plan's, whichever is worse; `elevated` when its security
 * context holds more power than its profile brings, or when `named` (the profiles of a rule) does not name that profile
 * and it brings any. So *sysadmin* is elevated unless the rule names *sysadmin* (design, section 3.2).
 */
export function effectiveClass(plan: Plan, alias: ImageClass, named: readonly Profile[]): ImageClass {
  const granted = named.includes(plan.profile) ? securityContextOf(plan.profile) : undefined;
  return goesBeyond(plan.securityContext ?? {}, granted ?? {}) ? 'elevated' : worseClass(plan.class, alias);
}

/** The more harmful of two classes. */
export const worseClass = (a: ImageClass, b: ImageClass): ImageClass =>
  IMAGE_CLASSES.indexOf(a) > IMAGE_CLASSES.indexOf(b) ? a : b;

/** Power that was not granted: privilege, a capability, or a restriction of the profile that is missing. */
function goesBeyond(wanted: SecurityContext, granted: SecurityContext): boolean {
  if (granted.privileged) return false;
  if (wanted.privileged) return true;
  const added = wanted.capabilities?.add ?? [];
  const dropped = wanted.capabilities?.drop ?? [];
  return (
    added.some((capability) => !granted.capabilities?.add?.includes(capability)) ||
    (granted.capabilities?.drop ?? []).some((capability) => !dropped.includes(capability)) ||
    (granted.allowPrivilegeEscalation === false && wanted.allowPrivilegeEscalation !== false) ||
    (granted.runAsNonRoot === true && !(wanted.runAsNonRoot === true && wanted.runAsUser !== 0))
  );
}
