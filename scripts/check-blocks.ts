import { setTimeout as wait } from 'node:timers/promises';
import { ALL_PAYLOADS } from '../test/support/slack-payloads.ts';
import { findingsOf, SLACK_URL } from './check-blocks/validate.ts';

/**
 * `npm run check-blocks`: sends the messages, forms and Home tabs of the tests to Slack's public validator, and prints what it refuses. Exits 1
 * on a finding. Opt-in, because it needs the internet and sends the tests' texts to Slack.
 */
const findings = await findingsOf(ALL_PAYLOADS, { url: process.env.SLACK_VALIDATE_URL ?? SLACK_URL, wait });
for (const { name, problems } of findings) for (const problem of problems) console.log(`${name}: ${problem}`);
console.log(`${ALL_PAYLOADS.length} payloads, ${findings.length} refused`);
if (findings.length > 0) process.exitCode = 1;
