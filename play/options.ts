import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export const USAGE = `npm run play                                   a page for the browser; here the main job, then type more commands
npm run play -- --once '/kdebug pod-1234'      one command; exits 0 when it was answered with a success, else 1
npm run play -- --kubeconfig FILE              on a cluster of your own instead of the local one
      --socket          Socket Mode instead of signed HTTP
      --user U0ROY      who types          --channel C0SHOP    where
      --verbose         the bot's own log on standard error
      --port 8080       where the page is; any free port without it          --no-page   without the page`;

const OPTIONS = {
  once: { type: 'string' },
  kubeconfig: { type: 'string' },
  user: { type: 'string', default: 'U0ROY' },
  channel: { type: 'string', default: 'C0SHOP' },
  socket: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  port: { type: 'string' },
  'no-page': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The options of the command line, with the text of the kubeconfig in place of its path. */
export type PlayOptions = ReturnType<typeof parse>;

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;

/** `problem`: a sentence that names the wrong option, or the file that cannot be read. */
export function readOptions(args: readonly string[]): PlayOptions | { readonly problem: string } {
  try {
    const { kubeconfig: path, ...values } = parse(args);
    return path === undefined ? values : { ...values, kubeconfig: readFileSync(path, 'utf8') };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
