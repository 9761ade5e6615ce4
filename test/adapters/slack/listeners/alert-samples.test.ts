import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { messageText, type WordedMessage } from '../../../../src/adapters/slack/listeners/message-content.ts';
import { podInText } from '../../../../src/core/say/pod-in-text.ts';

const FOLDER = fileURLToPath(new URL('../../../fixtures/alerts', import.meta.url));

interface Sample {
  /** The product, and where it says how it writes to Slack. */
  readonly source: string;
  readonly message: WordedMessage;
  readonly finds: { readonly pod?: string; readonly namespace?: string };
}

const samples = readdirSync(FOLDER).map(
  (file) => [file.replace('.json', ''), JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Sample] as const,
);

it('has at least twenty alerts of seven products', () => {
  expect(samples.length).toBeGreaterThanOrEqual(20);
  expect(new Set(samples.map(([name]) => name.split('-')[0])).size).toBeGreaterThanOrEqual(7);
});

it.each(samples)('the shortcut finds what the alert is about: %s', (_, { message, finds }) => {
  expect(podInText(messageText(message))).toEqual(finds);
});
