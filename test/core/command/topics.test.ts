import { expect, it } from 'vitest';
import { findTopic, TOPICS } from '../../../src/core/command/line/verbs.ts';

it.each(TOPICS)('%s finds itself', (topic) => {
  expect(findTopic(topic)).toBe(topic);
});

it.each([
  ['FLAGS', 'flags'],
  ['image', '--image'],
  ['images', 'images'],
  ['-n', '--namespace'],
  ['n', '--namespace'],
  ['container', 'container'],
  ['nothing', undefined],
  ['__proto__', undefined],
  ['', undefined],
])('%j is the topic %s', (word, topic) => {
  expect(findTopic(word)).toBe(topic);
});
