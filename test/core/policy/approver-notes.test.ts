import { expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { approverNotes } from '../../../src/core/planning/lint-notes.ts';
import { aPolicy } from '../../support/builders.ts';

it('who may join a channel of approvers is told to whoever writes the policy', () => {
  const approvers = { sre: { users: [], usergroup: 'S0SRE' }, db: { users: [], channel: asChannelId('C0DB') } };
  expect(approverNotes(aPolicy({ approvers }))).toEqual([
    expect.stringMatching(/^approvers\.db: every full member of C0DB may approve/),
  ]);
});
