import { DEFAULT_NAMES, withNames } from '../src/core/shown-names.ts';

/** A file, or a part of one, that is made from the code. `npm run gen` writes it, `npm run check:gen` compares it. */
export interface Generated {
  /** Relative to the project. */
  readonly path: string;
  /** The whole file's text; `current` is what stands there now, or nothing. */
  text(current: string): string | Promise<string>;
}

/** Puts `part` between the two comments that name it; they must be there. */
export function withPart(current: string, name: string, part: string): string {
  const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const from = current.indexOf(start);
  const to = current.indexOf(end);
  if (from === -1 || to < from) throw new Error(`there is no ${start} … ${end}`);
  return `${current.slice(0, from + start.length)}\n\n${part.trim()}\n\n${current.slice(to)}`;
}

/** A Markdown table; cells may hold a vertical bar, or a marker for a name. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return withNames([line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n'), DEFAULT_NAMES);
}
