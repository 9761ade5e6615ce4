import { useRef } from 'react';
import { usePlay } from '../context.ts';

const KEPT = 100;

/** What a person sent from this browser, to walk through with the arrow keys from an empty composer. */
export function useHistory(person: string) {
  const { session } = usePlay();
  /** How far back one has walked; 0 is not at all. */
  const back = useRef(0);
  const sent = (): readonly string[] => session.get().history[person] ?? [];
  return {
    add(text: string): void {
      back.current = 0;
      const others = sent().filter((one) => one !== text);
      const history = { ...session.get().history, [person]: [...others, text].slice(-KEPT) };
      session.set((now) => ({ ...now, history }));
    },
    /** Somebody typed: the next arrow is the text's own. */
    leave(): void {
      back.current = 0;
    },
    /** The text that the key brings, if it is one of walking. */
    step(key: string, text: string): string | undefined {
      if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined;
      if (back.current === 0 && (text !== '' || key === 'ArrowDown')) return undefined;
      const all = sent();
      const next = Math.min(all.length, back.current + (key === 'ArrowUp' ? 1 : -1));
      back.current = next;
      return next === 0 ? '' : (all[all.length - next] ?? text);
    },
  };
}
