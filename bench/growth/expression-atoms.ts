/** What a regular expression looks at: its literals, and the edges of its character classes. */

const NAMED_CLASSES: Readonly<Record<string, readonly string[]>> = {
  d: ['0', '9'],
  D: ['x'],
  w: ['a', 'Z', '0', '_'],
  W: [' ', '-'],
  s: [' ', '\t', '\n'],
  S: ['x', '!'],
  b: [],
  B: [],
  n: ['\n'],
  r: ['\r'],
  t: ['\t'],
  f: ['\f'],
  v: ['\v'],
  0: ['\0'],
};

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|[pPk][{<][^}>]*[}>]|(.))/sy;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;

interface Read {
  readonly characters: readonly string[];
  readonly end: number;
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/** The character at `at`, or what the escape there stands for. */
function readOne(source: string, at: number): Read {
  const escaped = match(ESCAPE, source, at);
  if (escaped === null) {
    const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
    return { characters: [character], end: at + character.length };
  }
  const [whole, byte, unit, point, letter] = escaped;
  const hex = byte ?? unit ?? point;
  const end = at + whole.length;
  if (hex !== undefined) return { characters: [String.fromCodePoint(Number.parseInt(hex, 16))], end };
  return { characters: letter === undefined ? [] : (NAMED_CLASSES[letter] ?? [letter]), end };
}

/** The members that a class names; of a negated one also some that it does not name. */
function readClass(source: string, at: number): Read {
  const negated = source[at + 1] === '^';
  const characters = negated ? ['x', ' '] : [];
  let next = at + (negated ? 2 : 1);
  while (next < source.length && source[next] !== ']') {
    const one = readOne(source, next);
    characters.push(...one.characters);
    next = one.end;
  }
  return { characters, end: next + 1 };
}

class Atoms {
  readonly found = new Set<string>();
  #run = '';

  literal(character: string): void {
    this.#run += character;
  }

  one(characters: readonly string[]): void {
    this.endRun();
    for (const character of characters) this.found.add(character);
  }

  endRun(): void {
    if (this.#run !== '') {
      this.found.add(this.#run);
      this.found.add(this.#run[0] as string);
      this.found.add(this.#run.slice(-1));
    }
    this.#run = '';
  }
}

/** The atoms of an expression's source. Text that is no expression gives its words. */
export function atomsOf(source: string): readonly string[] {
  const atoms = new Atoms();
  for (let at = 0; at < source.length; ) {
    const mark = match(GROUP, source, at) ?? match(QUANTIFIER, source, at);
    if (mark !== null) {
      atoms.endRun();
      at += mark[0].length;
      continue;
    }
    at = readAtom(source, at, atoms);
  }
  atoms.endRun();
  return [...atoms.found];
}

/** Adds what stands at `at`, and says where it ends. */
function readAtom(source: string, at: number, atoms: Atoms): number {
  const character = source[at] as string;
  const read = character === '[' ? readClass(source, at) : readOne(source, at);
  if (character === '[' || read.characters.length !== 1) atoms.one(read.characters);
  else if (character === '.') atoms.one(['x']);
  else if ('|)^$'.includes(character)) atoms.endRun();
  else atoms.literal(read.characters[0] as string);
  return read.end;
}
