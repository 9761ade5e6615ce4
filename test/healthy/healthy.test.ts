import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '../../src/core/run/run.ts';
import type { Message } from '../../src/core/say/message/message.ts';
import { anchorMessage, resultMessage } from '../../src/core/say/run/run-messages.ts';
import { healthyPrograms } from '../cluster/testbed/states.ts';
import { onPhone } from '../support/phone.ts';
import { RecordedTroubles } from '../troubles/answers.ts';
import { alarmsIn } from './alarms.ts';
import { AGES, folderAt, podNameOf, recordedPrograms } from './program.ts';

/** All that is recorded of a program. */
const MAX_BYTES = 200_000;

const asks = recordedPrograms().flatMap((program) => AGES.map((age) => ({ program, age })));

describe('the healthy programs', () => {
  it('are at least 20, all of the test bed', () => {
    expect(recordedPrograms().length).toBeGreaterThanOrEqual(20);
    expect(recordedPrograms()).toEqual(healthyPrograms());
  });

  it.each(recordedPrograms())('of which %s was recorded at each age, shortly, without its machine', (program) => {
    const files = AGES.flatMap((age) =>
      readdirSync(folderAt(program, age), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')),
    );
    const text = files.join('\n');
    expect(text.length).toBeLessThan(MAX_BYTES);
    expect(text).not.toMatch(/managedFields|"machineID"|kdebug-cluster|\/root\/|\/work\/|\/home\//);
  });
});

describe('a question about a healthy program', () => {
  const alarms: string[] = [];
  let recorded: RecordedTroubles;

  beforeAll(async () => {
    recorded = await RecordedTroubles.open();
  });

  afterAll(async () => {
    await recorded?.close();
    process.stdout.write([`asks ${asks.length}, alarms ${alarms.length}`, ...alarms, ''].join('\n'));
  });

  const cardOf = (run: Run): Message => anchorMessage(run, { approvers: {}, nowMs: Date.now() });

  it.each(asks)(
    '$program, $age s after its start, brings no alarm, before the look or after it',
    async ({ program, age }) => {
      const folder = folderAt(program, age);
      const logEnd = readFileSync(`${folder}look.log`, 'utf8').trimEnd();
      const podName = podNameOf(program);
      const { first, ended } = await recorded.look({ folder, namespace: `healthy-${program}-${age}`, podName, logEnd });
      expect(first.verdict?.unseen ?? []).not.toContainEqual(expect.stringMatching(/channel/));
      expect(ended.verdict?.by).toBeDefined();
      const read = [cardOf(first), cardOf(ended), resultMessage(ended)];
      const found = read.flatMap((message) => alarmsIn(onPhone(message)));
      const words = [first, ended].map(({ verdict }) => verdict?.line ?? '');
      if (found.length > 0) alarms.push(`${program} ${age} s: ${words.join(' | ')}`);
      expect(found, read.map(onPhone).join('\n\n')).toEqual([]);
    },
  );
});
