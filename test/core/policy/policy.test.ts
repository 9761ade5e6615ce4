import { expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { DIRECT, namesChannel } from '../../../src/core/policy/policy.ts';
import { aPolicy, aRule } from '../../support/builders.ts';

it('names the channels with rules, of approvers, and of who may write directly', () => {
  const policy = aPolicy({
    channels: {
      [asChannelId('C0SHOP')]: { rules: [aRule()] },
      [DIRECT]: { members: { users: [], channel: asChannelId('C0STAFF') }, rules: [] },
    },
    approvers: { sre: { users: [], channel: asChannelId('C0SRE') }, named: { users: [] } },
  });
  const asked = ['C0SHOP', 'C0STAFF', 'C0SRE', 'C0OTHER', 'constructor'];
  expect(asked.filter((id) => namesChannel(policy, id))).toEqual(['C0SHOP', 'C0STAFF', 'C0SRE']);
  expect(namesChannel(aPolicy({ channels: {}, approvers: {} }), 'C0SHOP')).toBe(false);
});
