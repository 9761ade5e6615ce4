import { expect, it } from 'vitest';
import { World } from '../support/world.ts';

const noteOf = async (names: readonly (readonly [string, string])[]): Promise<string> => {
  const world = new World();
  for (const [userId, name] of names) world.directory.names.set(userId, name);
  await world.say('web-1');
  return JSON.stringify(world.anchor()?.parts.filter(({ kind }) => kind === 'note'));
};

it('the small print of a card names the requester without a mention, as far as this process knows the name', async () => {
  const named = await noteOf([['U0ROY', 'Roy Rogers']]);
  expect(named).toContain(' · Roy Rogers · ');
  expect(named).not.toContain('U0ROY');
  expect(await noteOf([])).toContain('"U0ROY"');
});
