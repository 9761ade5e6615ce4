import { writeFileSync } from 'node:fs';
import { type JsonObject, objectAt } from '../../play/test/cluster/recorded/json.ts';
import type { Target } from '../../play/test/cluster/recorded/target.ts';
import { securityContextOf } from '../../src/core/container/profiles.ts';
import { REPORT_BEGIN, REPORT_END } from '../../src/core/report-marks.ts';
import type { Looks } from '../cluster/autodiagnose-looks.ts';
import { readStage, writeRecorded } from '../troubles/record.ts';
import { AGES, folderAt, podNameOf } from './program.ts';
import { HealthyStage } from './stage.ts';

/** The user of the programs of the test bed. */
const AS_TARGET = JSON.parse(JSON.stringify(securityContextOf('restricted', { uid: 10001, gid: 10001 })));

/**
 * Starts a program on a real cluster and writes, at each age, what its API says of it and what a look of autodiagnose
 * reports; removes its namespace. Resolves with the size of what it wrote.
 */
export async function recordHealthy(target: Target, looks: Looks, program: string): Promise<string> {
  const stage = new HealthyStage(target, program);
  try {
    await stage.play();
    const said: string[] = [];
    for (const age of AGES) {
      await stage.untilAge(age);
      const read = await readStage(stage);
      const { log } = await looks.report(stage.namespace, podNameOf(program), {
        env: { KDEBUG_TARGET: 'app' },
        securityContext: AS_TARGET,
      });
      const folder = folderAt(program, age);
      said.push(`${age} s: ${writeRecorded(folder, { ...read, found: shortened(read.found) })}`);
      writeFileSync(`${folder}look.log`, `${markedReport(log)}\n`);
    }
    return said.join('; ');
  } finally {
    await stage.remove();
  }
}

/** Without events that are no warnings, for which nothing asks, and without the looks before. */
const shortened = (objects: readonly JsonObject[]): readonly JsonObject[] =>
  objects
    .filter(({ kind, type }) => kind !== 'Event' || type !== 'Normal')
    .map((object) => {
      if (object.kind !== 'Pod') return object;
      const { ephemeralContainers: _spec, ...spec } = objectAt(object, 'spec');
      const { ephemeralContainerStatuses: _status, ...status } = objectAt(object, 'status');
      return { ...object, spec, status };
    });

const markedReport = (log: string): string =>
  log.slice(log.lastIndexOf(REPORT_BEGIN), log.lastIndexOf(REPORT_END) + REPORT_END.length);
