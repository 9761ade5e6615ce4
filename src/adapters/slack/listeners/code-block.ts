import { clean } from '../views/plain.ts';
import { unmarked, type WordedMessage } from './message-text.ts';

/** One more than a job may have, so that a longer one is refused and never cut. */
const MOST = 65_537;
const DEEPEST = 12;

/**
 * The first code block of a message as it was typed; undefined where there is none. Slack gives what people write as rich text,
 * where a code block is an element of its own; messages of apps may have it between three backticks of their text.
 */
export function codeBlock({ text, blocks }: WordedMessage): string | undefined {
  const code = preformattedIn(blocks, 0) ?? fencedIn(text ?? '');
  const typed = code === undefined ? '' : clean(code).slice(0, MOST);
  return typed.trim() === '' ? undefined : typed;
}

function preformattedIn(node: unknown, depth: number): string | undefined {
  if (depth > DEEPEST || typeof node !== 'object' || node === null) return undefined;
  if ('type' in node && node.type === 'rich_text_preformatted') return wordsOf(node);
  const below = Array.isArray(node) ? node : 'elements' in node ? [node.elements] : [];
  for (const child of below) {
    const found = preformattedIn(child, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Its elements are texts and links; rich text is never escaped. A link's label is what was typed. */
function wordsOf(node: object): string {
  const elements: readonly unknown[] = 'elements' in node && Array.isArray(node.elements) ? node.elements : [];
  return elements
    .map((element) => {
      if (typeof element !== 'object' || element === null) return '';
      if ('text' in element && typeof element.text === 'string') return element.text;
      return 'url' in element && typeof element.url === 'string' ? element.url : '';
    })
    .join('');
}

const FENCE = '```';
/** The language behind an opening fence, if it is one of ours, and the rest of a line that holds nothing else. */
const LANGUAGE = /(?:ya?ml|json(?=[ \t]*\n))?[ \t]*\n?/y;

/** What stands between the first two fences. Linear. */
function fencedIn(text: string): string | undefined {
  const open = text.indexOf(FENCE);
  if (open < 0) return undefined;
  LANGUAGE.lastIndex = open + FENCE.length;
  const start = open + FENCE.length + (LANGUAGE.exec(text)?.[0].length ?? 0);
  const close = text.indexOf(FENCE, start);
  return close < 0 ? undefined : unmarked(text.slice(start, close));
}
