import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { BOT_SCOPES } from '../../src/adapters/slack/identity.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('the start asks for exactly the bot scopes of slack-app.yml', () => {
  const manifest = parse(readFileSync(join(ROOT, 'slack-app.yml'), 'utf8'));
  expect(BOT_SCOPES).toEqual(manifest.oauth_config.scopes.bot);
});
