import { describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { identityNotes } from '../../../src/core/planning/lint-notes.ts';
import { aPolicy } from '../../support/builders.ts';

const users = { [asUserId('U0ROY')]: 'roy' };

describe('the notes on who acts and who reads along', () => {
  it('are none where nobody is mapped, or all who act are', () => {
    expect(identityNotes(aPolicy())).toEqual([]);
    expect(identityNotes(aPolicy({ identity: { mode: 'serviceAccount', users } }))).toEqual([]);
  });

  it('name the bot’s own rights for people who are not mapped', () => {
    const [note] = identityNotes(aPolicy({ identity: { mode: 'serviceAccount', users, unmapped: 'allow' } }));
    expect(note).toContain("act with kdebug's own rights");
  });

  it('name a policy that lets nobody act', () => {
    const identity = { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {}, unmapped: 'deny' } as const;
    expect(identityNotes(aPolicy({ identity }))).toEqual([expect.stringContaining('nobody may do anything')]);
  });

  it('name each channel that another company may read', () => {
    const channels = { [asChannelId('C0SHOP')]: { slackConnect: 'allowed' as const, rules: [] } };
    expect(identityNotes(aPolicy({ channels }))).toEqual([
      expect.stringMatching(/^channels\.C0SHOP .*another company/),
    ]);
  });
});
