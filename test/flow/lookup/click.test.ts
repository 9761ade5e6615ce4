import { describe, expect, it } from 'vitest';
import type { ActionName } from '../../../src/core/actions.ts';
import type { Click } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aPolicy } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

async function finished(words = 'web-1 --image=debian -- ls', policy = aPolicy()): Promise<World> {
  const world = new World({ policy });
  await world.say(words);
  world.cluster.log = 'a line of it\n';
  await endAll(world);
  return world;
}

const press = (world: World, action: ActionName, userId = 'U0EVE', over: Partial<Click> = {}) =>
  world.click(userId, action, { channelId: 'C0SHOP', ...over });

describe('the buttons that only show something', () => {
  it('Details opens a page with what only operators need', async () => {
    const world = await finished();
    const { planHash, containerName } = await world.run();
    const answer = await press(world, 'details');
    expect(answer).toMatchObject({ kind: 'page', title: 'Run aaaaaaaaaa' });
    const shown = textOf(answer);
    for (const word of ['uid-1', 'node-a', 'look', 'sha256:feed', planHash, containerName, 'debian:12-slim'])
      expect(shown).toContain(word);
  });

  it('Show log opens a page with the log', async () => {
    const world = await finished();
    const answer = await press(world, 'logs');
    expect(answer).toMatchObject({ kind: 'page', title: 'Log of aaaaaaaaaa' });
    expect(textOf(answer)).toContain('a line of it');
  });

  it('Copy command answers with the command, and says when a secret lacks', async () => {
    const world = await finished();
    const answer = await press(world, 'copy-command');
    const code = { kind: 'preformatted', text: '/kdebug web-1 --image=debian -- ls' };
    expect(answer).toMatchObject({ kind: 'message', message: { parts: [{}, code] } });
    const secret = await finished('web-1 --image=debian --env=TOKEN=hunter2hunter2 -- ls');
    const shown = textOf(await press(secret, 'copy-command', 'U0ROY'));
    expect(shown).not.toContain('hunter2');
    expect(shown).toContain('fill it in again');
  });

  it.each(['logs', 'details'] as const)('%s shows private output only to the requester', async (action) => {
    const { output } = aPolicy();
    const world = await finished(undefined, aPolicy({ output: { ...output, deliverTo: 'requester' } }));
    expect(textOf(await press(world, action, 'U0EVE'))).not.toContain('a line of it');
    expect(textOf(await press(world, action, 'U0ROY'))).toContain('a line of it');
  });

  it.each(['logs', 'details', 'copy-command'] as const)('%s works only on the cards of its run', async (action) => {
    const world = await finished();
    const result = world.thread.posts.find(({ meta }) => meta.kind === 'result')?.ref.ts ?? '';
    expect(textOf(await press(world, action, 'U0EVE', { messageTs: result }))).not.toContain('button_stale');
    for (const over of [{ messageTs: '7.7' }, { channelId: 'C0OTHER' }, { value: 'zzzzzzzzzz' }])
      expect(textOf(await press(world, action, 'U0EVE', over))).toContain('button_stale');
  });

  it('change nothing and start nothing', async () => {
    const world = await finished();
    const before = await world.run();
    for (const action of ['logs', 'details', 'copy-command'] as const) await press(world, action);
    expect(await world.run()).toEqual(before);
    expect(await world.store.recent(anOrigin().channelId, 5)).toHaveLength(1);
  });
});
