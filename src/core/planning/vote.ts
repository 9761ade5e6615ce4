import type { ReasonCode } from '../errors.ts';
import { canonicalJson } from '../hash.ts';
import type { Decision } from '../policy/policy.ts';

/**
 * The approval a pending run waits for (design, section 4.4). Posting the card freezes its terms; later only votes
 * change.
 */
export interface PendingApproval {
  readonly rule: string;
  /** Names of approver groups; a member of any may vote. */
  readonly from: readonly string[];
  readonly count: number;
  readonly expiresAtMs: number;
  readonly voteReason: 'required' | 'optional';
  readonly grants: 'allowed' | 'denied';
  readonly votes: readonly Vote[];
}

export interface Vote {
  readonly userId: string;
  readonly kind: 'approve' | 'reject';
  readonly reason?: string;
  readonly atMs: number;
}

/** The voter, looked up at the click. */
export interface Voter {
  readonly userId: string;
  /** The requester, or another account of that person. */
  readonly isRequester: boolean;
  /** True if another account is theirs too. */
  readonly isAlso: (userId: string) => boolean;
  /** A member of one of the approver groups at this moment. */
  readonly isApprover: boolean;
}

export type VoteResult =
  /** The vote counts, but more are needed. */
  | { readonly kind: 'counted' }
  | { readonly kind: 'granted' }
  | { readonly kind: 'rejected' }
  /** Nothing changes; a private message tells the voter why. */
  | { readonly kind: 'ignored'; readonly code: ReasonCode }
  /** The policy requires a reason, and the vote has none. */
  | { readonly kind: 'reason-missing' };

/**
 * Applies one vote to a pending approval. One rejection decides; `count` approvals of different people grant. Prevents
 * self-approval, also by a second account; votes by people who left the group after the card was posted; votes at or
 * after the expiry; and counting anybody twice, also with two accounts.
 */
export function judgeVote(approval: PendingApproval, voter: Voter, vote: Vote): VoteResult {
  if (vote.atMs >= approval.expiresAtMs) return { kind: 'ignored', code: 'approval_expired' };
  if (voter.isRequester) return { kind: 'ignored', code: 'vote_by_requester' };
  if (!voter.isApprover) return { kind: 'ignored', code: 'vote_by_outsider' };
  const isTheirs = ({ userId }: Vote): boolean => userId === voter.userId || voter.isAlso(userId);
  if (approval.votes.some(isTheirs)) return { kind: 'ignored', code: 'vote_repeated' };
  if (approval.voteReason === 'required' && !vote.reason?.trim()) return { kind: 'reason-missing' };
  if (vote.kind === 'reject') return { kind: 'rejected' };
  return approval.votes.length + 1 >= approval.count ? { kind: 'granted' } : { kind: 'counted' };
}

/** The approval without these people's votes. */
export const withoutVotesOf = (approval: PendingApproval, people: readonly string[] = []): PendingApproval => ({
  ...approval,
  votes: approval.votes.filter(({ userId }) => !people.includes(userId)),
});

export type Terms = Pick<PendingApproval, 'rule' | 'from' | 'count' | 'voteReason' | 'grants'>;

/** True if a decision needs an approval on the same terms. Votes on other terms do not count. */
export function asksTheSame(decision: Decision, { rule, from, count, voteReason, grants }: Terms): boolean {
  if (decision.kind !== 'needs-approval' || decision.rule !== rule) return false;
  const { approval } = decision;
  const sameGroups = canonicalJson(approval.from) === canonicalJson(from);
  const sameTerms = approval.count === count && approval.voteReason === voteReason && approval.grants === grants;
  return sameGroups && sameTerms;
}
