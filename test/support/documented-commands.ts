import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The pages whose commands people copy. */
export const PAGES = [
  'README.md',
  'docs/install.md',
  'docs/operations.md',
  'docs/runbooks.md',
  'docs/audit.md',
  'docs/redis.md',
] as const;

export interface DocumentedCommand {
  readonly page: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** The heading above it, without its marks. */
  readonly section: string;
  /** As one pastes it into a shell. */
  readonly text: string;
  /** A line of a block, which people copy whole; else a few words in a sentence, which may be a mention only. */
  readonly isBlock: boolean;
}

/** Words that begin a command when they stand alone in a sentence: `kubectl …`. Others are code or names. */
const IN_SENTENCES = /^(?:curl|docker|git|kind|kubectl|node|npm|npx|openssl|redis-cli) \S/;

/** Every shell command of a page: lines of `sh` blocks, and those within sentences and tables. */
export function commandsOf(page: string): readonly DocumentedCommand[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  const found: DocumentedCommand[] = [];
  let fence: string | undefined;
  let section = '';
  for (const [index, text] of lines.entries()) {
    const where = { page, line: index + 1, section };
    const mark = /^\s*```(\w*)/.exec(text);
    if (mark) fence = fence === undefined ? (mark[1] ?? '') : undefined;
    else if (fence === 'sh') found.push({ ...where, text: withoutComment(text), isBlock: true });
    else if (fence === undefined && text.startsWith('#')) section = text.replace(/^#+ /, '');
    else if (fence === undefined)
      found.push(...inSentence(text).map((code) => ({ ...where, text: code, isBlock: false })));
  }
  return found.filter(({ text }) => text !== '');
}

/** A comment begins at a # after two spaces: `#` alone is also a separator of sed. */
const withoutComment = (line: string): string => line.replace(/(?:^| {2,})#.*$/, '').trim();

/** A table writes a pipe as `\|`. What has an ellipsis is no command but a pattern of one. */
const inSentence = (text: string): readonly string[] =>
  [...text.matchAll(/(`+)(.+?)\1/g)]
    .map(([, , code = '']) => code.replaceAll('\\|', '|').trim())
    .filter((code) => IN_SENTENCES.test(code) && !code.includes('…'));

/** The words of each program that a command line starts, without quotes; `$(…)` counts as commands of their own. */
export function programsOf(text: string): readonly (readonly string[])[] {
  const inner: string[] = [];
  const outer = text.replaceAll(/\$\(([^()]*)\)/g, (_, command: string) => {
    inner.push(command);
    return '$INNER';
  });
  return [...inner.flatMap(programsOf), ...simpleCommands(outer)];
}

const WORD = /'([^']*)'|"((?:\\.|[^"\\])*)"|(\\.)|([^\s'"\\|&;<>]+)|(\s+)|(\|\||&&|[|;]|>>?|<)/gy;

function simpleCommands(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  let isFile = false;
  const endWord = (): void => {
    if (word !== undefined && !isFile) commands.at(-1)?.push(word);
    if (word !== undefined) isFile = false;
    word = undefined;
  };
  for (const [all, single, double, escaped, plain, space, operator] of text.matchAll(WORD)) {
    if (space === undefined && operator === undefined)
      word = (word ?? '') + (single ?? double ?? escaped ?? plain ?? all);
    else endWord();
    if (operator === '>' || operator === '>>' || operator === '<') isFile = true;
    else if (operator !== undefined) commands.push([]);
  }
  endWord();
  const withoutKeywords = commands.map((words) => words.filter((word, index) => index > 0 || !OF_THE_SHELL.has(word)));
  return withoutKeywords.filter((words) => words.length > 0);
}

const OF_THE_SHELL: ReadonlySet<string> = new Set(['until', 'do', 'done']);
