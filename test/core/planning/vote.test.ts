import { describe, expect, it } from 'vitest';
import { asksTheSame, judgeVote, type Vote, type Voter } from '../../../src/core/planning/vote.ts';
import { anApproval, START_MS } from '../../support/builders.ts';

const bob: Voter = { userId: 'U0BOB', isRequester: false, isAlso: () => false, isApprover: true };
const vote = (parts: Partial<Vote> = {}): Vote => ({ userId: 'U0BOB', kind: 'approve', atMs: START_MS, ...parts });

describe('judgeVote', () => {
  it('grants with the one approval that is asked for', () => {
    expect(judgeVote(anApproval(), bob, vote())).toEqual({ kind: 'granted' });
  });

  it('counts until as many different people have approved as the rule asks for', () => {
    const two = anApproval({ count: 2 });
    expect(judgeVote(two, bob, vote())).toEqual({ kind: 'counted' });
    const after = { ...two, votes: [vote({ userId: 'U0ALICE' })] };
    expect(judgeVote(after, bob, vote())).toEqual({ kind: 'granted' });
  });

  it('is rejected by one rejection, whatever was counted before', () => {
    const three = anApproval({ count: 3, votes: [vote({ userId: 'U0ALICE' })] });
    expect(judgeVote(three, bob, vote({ kind: 'reject' }))).toEqual({ kind: 'rejected' });
  });

  it.each([
    ['the requester votes', { ...bob, isRequester: true }, vote(), 'vote_by_requester'],
    [
      'the requester is an approver and rejects',
      { ...bob, isRequester: true },
      vote({ kind: 'reject' }),
      'vote_by_requester',
    ],
    ['somebody else votes', { ...bob, isApprover: false }, vote(), 'vote_by_outsider'],
    ['it is past the time', bob, vote({ atMs: START_MS + 60_001 }), 'approval_expired'],
    ['it is the very moment of the expiry', bob, vote({ atMs: START_MS + 60_000 }), 'approval_expired'],
  ] as const)('is ignored when %s', (_, voter, given, code) => {
    expect(judgeVote(anApproval(), voter, given)).toEqual({ kind: 'ignored', code });
  });

  it('counts just before the expiry', () => {
    expect(judgeVote(anApproval(), bob, vote({ atMs: START_MS + 59_999 }))).toEqual({ kind: 'granted' });
  });

  it('counts nobody twice, though others have voted', () => {
    const two = anApproval({ count: 3, votes: [vote({ userId: 'U0ALICE' }), vote()] });
    expect(judgeVote(two, bob, vote())).toEqual({ kind: 'ignored', code: 'vote_repeated' });
  });

  it('counts nobody twice who votes with two accounts', () => {
    const two = anApproval({ count: 2, votes: [vote({ userId: 'U0ROB' })] });
    const also = { ...bob, isAlso: (userId: string) => userId === 'U0ROB' };
    expect(judgeVote(two, also, vote())).toEqual({ kind: 'ignored', code: 'vote_repeated' });
  });

  it.each([undefined, '', '   '])('wants a reason where the rule does: %j is none', (reason) => {
    const wanted = anApproval({ voteReason: 'required' });
    expect(judgeVote(wanted, bob, vote(reason === undefined ? {} : { reason }))).toEqual({ kind: 'reason-missing' });
    expect(judgeVote(wanted, bob, vote({ kind: 'reject' }))).toEqual({ kind: 'reason-missing' });
    expect(judgeVote(wanted, bob, vote({ reason: 'incident' }))).toEqual({ kind: 'granted' });
  });
});

describe('asksTheSame', () => {
  const approval = {
    from: ['sre'],
    count: 1,
    expiresMs: 1,
    reason: 'optional',
    voteReason: 'optional',
    grants: 'allowed',
  } as const;
  const decision = { kind: 'needs-approval', rule: 'attach', approval } as const;

  it('holds whatever else the rule says of its approval', () => {
    expect(asksTheSame(decision, anApproval())).toBe(true);
    expect(asksTheSame({ ...decision, approval: { ...approval, reason: 'required' } }, anApproval())).toBe(true);
  });

  it.each([
    ['another rule asks', { ...decision, rule: 'other' }],
    ['other groups are asked', { ...decision, approval: { ...approval, from: ['sre', 'security'] } }],
    ['more people are asked', { ...decision, approval: { ...approval, count: 2 } }],
    ['reasons are asked for', { ...decision, approval: { ...approval, voteReason: 'required', grants: 'allowed' } }],
    ['nobody is asked', { kind: 'allow', rule: 'attach' }],
  ] as const)('not when %s', (_, asked) => {
    expect(asksTheSame(asked, anApproval())).toBe(false);
  });
});
