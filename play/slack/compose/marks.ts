import { withLinks } from './links.ts';

/** ```` ``` ````-fences and `code`: what is in them is left alone. */
const CODE = /```[\s\S]*?```|`[^`\n]+`/g;

/** `change` for what is not in code. */
function outsideCode(text: string, change: (part: string) => string): string {
  let out = '';
  let from = 0;
  for (const found of text.matchAll(CODE)) {
    out += change(text.slice(from, found.index)) + found[0];
    from = found.index + found[0].length;
  }
  return out + change(text.slice(from));
}

/** What the rich text composer makes of the letters, in the `text` that apps get: bullets, and links. Code keeps its marks. */
export function formatted(text: string): string {
  return outsideCode(text, (part) => withLinks(withBullets(part)));
}

/** A line that begins with `- ` or `* ` becomes a list's; deeper ones are indented by four spaces a step. */
function withBullets(text: string): string {
  return text.replace(/^( *)[-*] (?=\S)/gm, (_found, indent: string) => {
    const depth = Math.floor(indent.length / 2);
    return `${'    '.repeat(depth)}${BULLETS[depth % BULLETS.length]} `;
  });
}

const BULLETS = ['•', '◦', '▪︎'] as const;

/** What the keyboards of macOS and iOS make of `--` and of straight quotes, while one types. */
export function smartPunctuation(text: string): string {
  return outsideCode(text, (part) =>
    part
      .replaceAll('--', '—')
      .replace(/(?<=^|[\s([{=—])"/gm, '“')
      .replaceAll('"', '”')
      .replace(/(?<=^|[\s([{=—])'/gm, '‘')
      .replaceAll("'", '’'),
  );
}
