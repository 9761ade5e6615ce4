import { type Bed, type BedOptions, startBed } from '../../play/app/bed.ts';
import type { LocalSlack } from '../../play/slack/index.ts';

const ACK_LIMIT_MS = 60_000;

/** Makes this Slack wait longer than three seconds: the bench judges how soon a busy machine acknowledges, no test does. */
export function waitLonger(slack: LocalSlack): void {
  slack.ackLimitMs = ACK_LIMIT_MS;
}

/** The real application between a cluster and a Slack that waits longer than the real one. */
export async function startPatientBed(options: BedOptions): Promise<Bed> {
  const bed = await startBed(options);
  waitLonger(bed.slack);
  return bed;
}
