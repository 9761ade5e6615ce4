/** Slack's names of the emoji that people here are likely to meet; another name stays as it was written. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['white_check_mark', '✅'],
  ['heavy_check_mark', '✔️'],
  ['x', '❌'],
  ['warning', '⚠️'],
  ['hourglass_flowing_sand', '⏳'],
  ['hourglass', '⌛'],
  ['arrow_forward', '▶️'],
  ['closed_lock_with_key', '🔐'],
  ['checkered_flag', '🏁'],
  ['double_vertical_bar', '⏸️'],
  ['eyes', '👀'],
  ['+1', '👍'],
  ['thumbsup', '👍'],
  ['-1', '👎'],
  ['thumbsdown', '👎'],
  ['tada', '🎉'],
  ['raised_hands', '🙌'],
  ['rocket', '🚀'],
  ['fire', '🔥'],
  ['bug', '🐛'],
  ['rotating_light', '🚨'],
  ['lock', '🔒'],
  ['key', '🔑'],
  ['wave', '👋'],
  ['pray', '🙏'],
  ['heart', '❤️'],
  ['smile', '😄'],
  ['thinking_face', '🤔'],
  ['no_entry', '⛔'],
  ['mag', '🔍'],
  ['wrench', '🔧'],
  ['memo', '📝'],
  ['information_source', 'ℹ️'],
  ['red_circle', '🔴'],
  ['large_green_circle', '🟢'],
  ['stop_sign', '🛑'],
]);

export const emojiNamed = (name: string): string => BY_NAME.get(name) ?? `:${name}:`;

/** What the toolbar of a message offers. */
export const QUICK_REACTIONS = ['white_check_mark', 'eyes', '+1'] as const;

/** Those that the page draws itself (`emoji.css`), so that they look the same on every machine. */
const DRAWN: ReadonlyMap<string, string> = new Map([
  ['✅', 'check'],
  ['❌', 'cross'],
  ['⚠', 'warning'],
  ['⏳', 'hourglass'],
  ['👀', 'eyes'],
  ['👍', 'thumb'],
  ['🔐', 'lock'],
]);

const DRAWN_IN_TEXT = /([✅❌⚠⏳👀👍🔐])\u{FE0F}?/gu;

export interface Piece {
  readonly text: string;
  /** The name of the drawing. */
  readonly drawn?: string;
}

/** Text in pieces, those emoji apart that are drawn; joined, the pieces are the text. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(DRAWN_IN_TEXT)) {
    const drawn = DRAWN.get(match[1] ?? '');
    if (drawn === undefined) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push({ text: match[0], drawn });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}
