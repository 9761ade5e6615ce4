import type { Process, Program } from './process.ts';

interface Word {
  readonly text: string;
  /** An operator: `;`, `&&`, `||` or a redirection. */
  readonly isOperator: boolean;
}

interface Command {
  readonly words: Word[];
  /** What stands before it. */
  readonly joiner: string;
}

type Find = (name: string) => Program | undefined;

const REDIRECTION = /^(2>&1|1?>&2|[12&]?>>?)/;

/** Understood, so that they can be refused. */
const UNSUPPORTED = new Set(['|', '&', '<']);

/**
 * A shell of sorts for `sh -c`: words, quotes, `$NAME`, `$?`, `;`, `&&`, `||`, `exit`, and `>` into the termination file
 * or `/dev/null`. It looks its programs up in a table of simulated ones; nothing is ever executed.
 */
export async function runShell(process: Process, find: Find): Promise<number> {
  const at = process.argv.indexOf('-c');
  const commands = at < 0 ? [] : commandsOf(process.argv[at + 1] ?? '');
  const shell = process.argv[0]?.split('/').at(-1) ?? 'sh';
  const odd = commands.flatMap(({ words }) => words).find((word) => word.isOperator && UNSUPPORTED.has(word.text));
  if (odd) {
    process.write(`${shell}: syntax error: the simulated shell has no "${odd.text}"\n`);
    return 2;
  }
  const state = new ShellState(process, find, shell);
  for (const command of commands) {
    if (await state.run(command)) break;
  }
  return process.signal.aborted ? 137 : state.last;
}

class ShellState {
  last = 0;
  readonly #process: Process;
  readonly #find: Find;
  readonly #shell: string;

  constructor(process: Process, find: Find, shell: string) {
    this.#process = process;
    this.#find = find;
    this.#shell = shell;
  }

  /** Runs one command, unless what came before it says not to; true when nothing more is to run. */
  async run({ words: raw, joiner }: Command): Promise<boolean> {
    if (this.#process.signal.aborted) return true;
    if ((joiner === '&&' && this.last !== 0) || (joiner === '||' && this.last === 0)) return false;
    const { argv, target } = this.#redirected(
      raw.map((word) => ({ ...word, text: word.isOperator ? word.text : this.#expand(word.text) })),
    );
    const [name] = argv;
    if (name === undefined) return false;
    if (name === 'exit') {
      this.last = argv[1] === undefined ? this.last : Number(argv[1]) & 255;
      return true;
    }
    const program = this.#find(name);
    const process = { ...this.#process, argv, write: this.#writer(target) };
    if (!program) this.#process.write(`${this.#shell}: ${name}: not found\n`);
    this.last = program ? await program(process) : 127;
    return false;
  }

  #redirected(words: readonly Word[]): { argv: readonly string[]; target: string } {
    const argv: string[] = [];
    let target = '';
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at];
      if (!word?.isOperator) argv.push(word?.text ?? '');
      else if (/^[1&]?>>?$/.test(word.text)) {
        at += 1;
        target = words[at]?.text ?? '';
      } else if (word.text.endsWith('>')) at += 1;
    }
    return { argv, target };
  }

  #writer(target: string): Process['write'] {
    if (target === '/dev/null') return () => undefined;
    if (target === '/dev/termination-log') return (text) => this.#process.writeTermination(text.toString());
    return (text) => this.#process.write(text);
  }

  #expand(text: string): string {
    return text
      .replace(/\u0000(?:\{(\w+)\}|(\w+)|([?$]))/g, (_, braced?: string, plain?: string, special?: string) => {
        if (special === '?') return String(this.last);
        if (special === '$') return '7';
        return this.#process.env.get(braced ?? plain ?? '') ?? '';
      })
      .replaceAll('\0', '$');
  }
}

function commandsOf(script: string): Command[] {
  const commands: Command[] = [{ words: [], joiner: ';' }];
  for (const word of wordsOf(script)) {
    const isJoiner = word.isOperator && [';', '&&', '||'].includes(word.text);
    if (isJoiner) commands.push({ words: [], joiner: word.text });
    else commands.at(-1)?.words.push(word);
  }
  return commands;
}

/** Words and operators. A NUL stands for a `$` that is to be expanded (so not in single quotes). */
function wordsOf(script: string): Word[] {
  const words: Word[] = [];
  let rest = script;
  while (rest !== '') {
    const blank = /^[ \t]+|^\\\n/.exec(rest)?.[0];
    const joiner = /^(&&|\|\||;|\n|[|&<])/.exec(rest)?.[0];
    const redirection = REDIRECTION.exec(rest)?.[0];
    const found = blank ?? redirection ?? joiner;
    if (found === undefined) {
      const { text, length } = wordAt(rest);
      words.push({ text, isOperator: false });
      rest = rest.slice(length);
      continue;
    }
    if (blank === undefined) words.push({ text: joiner === '\n' ? ';' : found, isOperator: true });
    rest = rest.slice(found.length);
  }
  return words;
}

const PIECE = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|\\([\s\S])|([^\s;&|<>'"\\]+)|([&|<>'"\\]))/;

function wordAt(rest: string): { text: string; length: number } {
  let text = '';
  let length = 0;
  for (;;) {
    const found = PIECE.exec(rest.slice(length));
    if (!found || (length > 0 && /^(&&|\|\||[<>])/.test(rest.slice(length))))
      return { text, length: Math.max(length, 1) };
    const [all, single, double, escaped, plain, odd] = found;
    text +=
      single ??
      double?.replaceAll(/\\(["\\$`])|\$/g, (_, kept?: string) => kept ?? '\0') ??
      escaped ??
      plain?.replaceAll('$', '\0') ??
      odd ??
      '';
    length += all.length;
  }
}
