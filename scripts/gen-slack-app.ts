import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Generated } from './generated.ts';

/** The manifest of the Slack app for Slack's JSON tab. */
export const slackApp: Generated = {
  path: 'slack-app.json',
  text: () => `${JSON.stringify(parse(readFileSync('slack-app.yml', 'utf8')), null, 2)}\n`,
};
