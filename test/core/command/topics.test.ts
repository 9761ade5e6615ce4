import { expect, test } from 'vitest';
import { findTopic, TOPICS } from '../../../src/core/command/verbs.ts';

test.each(TOPICS)('%s finds itself', (topic) => {
  expect(findTopic(topic)).toBe(topic);
});

test.each([
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
