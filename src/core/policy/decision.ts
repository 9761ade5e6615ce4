import type { ReasonCode } from '../errors.ts';
import type { Approval } from './policy.ts';

/** What the policy says of a plan, with the rule that made it. */
export type Decision =
  | { readonly kind: 'allow'; readonly rule: string }
  | { readonly kind: 'needs-approval'; readonly rule: string; readonly approval: Approval }
  | {
      readonly kind: 'deny';
      readonly code: ReasonCode;
      /** The rule that came nearest; absent when none was near. */
      readonly rule?: string;
      /** The value that was not allowed, for the sentence. */
      readonly subject: string;
    };
