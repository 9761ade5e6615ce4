import { expect, it } from 'vitest';
import { PROFILE_NAMES } from '../../../../src/core/command/line/values.ts';
import { TOPICS, VERBS } from '../../../../src/core/command/line/verbs.ts';
import { parseCommand } from '../../../../src/core/command/parse.ts';
import { EXAMPLES, helpMessage, PROFILE_HELP } from '../../../../src/core/say/answers/help.ts';
import type { Message } from '../../../../src/core/say/message/message.ts';
import { COMMAND } from '../../../../src/core/shown-names.ts';

const textOf = (message: Message): string => JSON.stringify(message.parts);

it('help begins with the most common commands', () => {
  const message = helpMessage();
  expect(message.parts[0]).toEqual({ kind: 'heading', text: message.summary });
  expect(message.parts[2]).toMatchObject({
    kind: 'list',
    items: [[{ text: `${COMMAND} web-1` }, {}], ...EXAMPLES.slice(1).map(() => [{}, {}])],
  });
  expect(textOf(message).indexOf('--image=autodiagnose')).toBeLessThan(textOf(message).indexOf('Verbs'));
});

it('help fits one screen', () => {
  expect(textOf(helpMessage()).length).toBeLessThan(2_500);
});

it.each(EXAMPLES)('the example %j can be typed', (command) => {
  expect(parseCommand(command).kind).toBe('ok');
});

it.each(TOPICS.filter((topic) => topic !== 'help'))('there is help on %s, and it is its own', (topic) => {
  const message = helpMessage(topic);
  expect(message.summary).not.toBe(helpMessage().summary);
  expect(message.tone).toBe('neutral');
});

it('help on a word that is no topic is the first screen', () => {
  expect(helpMessage('constructor')).toEqual(helpMessage());
});

it('every profile is explained, in the words that --profile takes', () => {
  expect(PROFILE_HELP.map(([name]) => name).sort()).toEqual([...PROFILE_NAMES].sort());
});

it('help on a verb lists its flags and no others', () => {
  expect(textOf(helpMessage('describe'))).toContain('--namespace');
  expect(textOf(helpMessage('describe'))).not.toContain('--image');
});

it('the first screen offers every verb', () => {
  const shown = textOf(helpMessage());
  expect(VERBS.filter(({ name }) => !shown.includes(`"${name}"`)).map(({ name }) => name)).toEqual([]);
});
