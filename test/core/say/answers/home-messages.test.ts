import { expect, it } from 'vitest';
import { homeMessage } from '../../../../src/core/say/answers/home-messages.ts';
import { aPolicy, START_MS } from '../../../support/builders.ts';
import { armed } from '../../../support/messages/run-messages.ts';
import { textOf } from '../../../support/plain-message.ts';

it('an armed watch says what for and until when', () => {
  const home = homeMessage({
    waiting: undefined,
    mine: [{ run: armed }],
    channels: [],
    channelsLeftOut: 0,
    channelsTooLarge: 0,
    policy: aPolicy(),
    isIncomplete: false,
    nowMs: START_MS,
  });
  const until = new Date(START_MS + 3_000 + 6 * 3_600_000).toISOString();
  expect(textOf(home)).toContain(`Armed for 6h: memory>92% or threads>500, until ${until}: `);
});
