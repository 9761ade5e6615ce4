import { describe, expect, it } from 'vitest';
import { Refusals } from '../../../../src/adapters/slack/receiving/refusals.ts';
import { START_MS } from '../../../support/builders.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { RecordingLog } from '../harness.ts';

function watched() {
  const [clock, log] = [new FakeClock(), new RecordingLog()];
  const counted: string[] = [];
  const refusals = new Refusals({ clock, log, metrics: { requestRefused: (reason) => void counted.push(reason) } });
  return { clock, log, counted, refusals };
}

const MINUTE_MS = 60_000;

describe('requests that are refused', () => {
  it('with a wrong signature are one line in the log when it begins, and one when it ends', () => {
    const { clock, log, counted, refusals } = watched();
    for (let count = 0; count < 500; count += 1) refusals.refused('signature');
    clock.standStill(MINUTE_MS);
    refusals.accepted();
    refusals.accepted();
    expect(counted).toHaveLength(500);
    expect(log.records).toEqual([
      {
        level: 'error',
        message: 'requests that claim to be from Slack are refused, and none is accepted',
        fields: { refused: 'signature', hint: expect.stringContaining('SLACK_SIGNING_SECRET') },
      },
      {
        level: 'info',
        message: 'a request from Slack is accepted again',
        fields: expect.objectContaining({ refused: 'signature', lastedMs: MINUTE_MS, failures: 500 }),
      },
    ]);
  });

  it('for their time say how far our clock is ahead', () => {
    const { log, refusals } = watched();
    refusals.refused('clock', 310_400);
    expect(log.records[0]?.fields).toMatchObject({ refused: 'clock', aheadSeconds: 310 });
    expect(refusals.lines()).toEqual([
      `refused since ${new Date(START_MS).toISOString()}, 1 in all, none accepted: clock`,
    ]);
  });

  it('because they are not in the form of Slack are counted, and no more', () => {
    const { log, counted, refusals } = watched();
    refusals.refused('form');
    expect(counted).toEqual(['form']);
    expect(log.records).toEqual([]);
    expect(refusals.lines()).toEqual(['none came yet']);
  });

  it("are a stranger's while those of Slack get through, so that a flood beside them writes nothing", () => {
    const { clock, log, refusals } = watched();
    for (let count = 0; count < 20; count += 1) {
      refusals.accepted();
      clock.standStill(MINUTE_MS - 1);
      refusals.refused('signature');
    }
    expect(log.records).toEqual([]);
    expect(refusals.lines()).toEqual([expect.stringMatching(/^accepted, the last one \d{4}-/)]);
  });

  it('count again when nothing of Slack has got through for a minute', () => {
    const { clock, log, refusals } = watched();
    refusals.accepted();
    clock.standStill(MINUTE_MS);
    refusals.refused('signature');
    expect(log.records).toHaveLength(1);
    expect(refusals.lines()[0]).toContain('refused since');
  });
});
