import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Manifest = z.object({ oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }) });

const FILE = new URL('../../slack-app.yml', import.meta.url);

/** The bot scopes that an installation from this repository's manifest has. */
export function manifestScopes(): readonly string[] {
  return Manifest.parse(parse(readFileSync(FILE, 'utf8'))).oauth_config.scopes.bot;
}
