import { memo } from 'react';
import { piecesOf } from '../text/emoji.ts';

/** Text to the letter; some emoji are drawn over their letters, so that they look the same everywhere and copy as they are. */
export const Words = memo(({ children }: { readonly children: string }) => (
  <>
    {piecesOf(children).map(({ text, drawn }, index) =>
      drawn === undefined ? (
        text
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other identity, and never move
        <span key={index} className={`emoji emoji-${drawn}`}>
          {text}
        </span>
      ),
    )}
  </>
));
