import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { alertPost, postAlert } from '../../../../play/app/alert.ts';
import { says, startWorld, type World } from '../harness.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld('socket');
  world.inbox.answer = async () => says('which pod?');
});
afterAll(() => world.stop());
afterEach(() => world.inbox.forget());

async function press(user: string, action: { name: string; value: string }) {
  const ts = await postAlert(world.local, alertPost('C0SHOP', 'shop/web-1'));
  const override = { actions: [{ ...action, type: 'button' }] };
  return world.local.deliver.attachment({ user, channel: 'C0SHOP', ts, label: 'Diagnose', override });
}

it.each(['U0ROY', 'U0GUEST'])(
  'a press of a button that is nothing is acknowledged without a word: %s',
  async (user) => {
    expect(await press(user, { name: '', value: '' })).toMatchObject({ status: 200, body: '' });
    expect(world.inbox.taken.alert).toBe(0);
    // What is said afterwards is the first that anybody reads.
    await press('U0ROY', { name: 'look', value: '' });
    await world.local.until(() => world.local.ephemerals('U0ROY').length > 0);
    expect(world.inbox.alerts).toMatchObject([{ userId: 'U0ROY', value: '' }]);
    expect(world.local.ephemerals('U0GUEST')).toEqual([]);
    expect(world.inbox.refusals).toEqual([]);
  },
);
