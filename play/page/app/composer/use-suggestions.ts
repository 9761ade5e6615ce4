import { useState } from 'react';
import { useWorld } from '../context.ts';
import { type Suggestion, suggest } from './complete.ts';

interface Written {
  readonly text: string;
  readonly caret: number;
  readonly inThread: boolean;
  readonly onTake: (text: string, caret: number) => void;
}

/** The open list of suggestions, and the keys that it takes while it is open. */
export function useSuggestions({ text, caret, inThread, onTake }: Written) {
  const completion = useWorld((world) => world.completion);
  const pods = useWorld((world) => world.pods);
  const [closedFor, setClosedFor] = useState<string>();
  /** For which text a line was gone to: another text begins anew. */
  const [gone, setGone] = useState({ text: '', to: -1 });
  const found = suggest(text, caret, { completion, pods, inThread });
  const items = closedFor === text ? [] : found.items;
  const active = gone.text === text && gone.to < items.length ? gone.to : -1;

  const take = ({ insert }: Suggestion): void => {
    const after = text.slice(found.to).replace(/^\s/, '');
    onTake(`${text.slice(0, found.from)}${insert}${after}`, found.from + insert.length);
  };
  return {
    items,
    active,
    take,
    close: () => setClosedFor(text),
    reopen: () => setClosedFor(undefined),
    /** Whether the key was one of the list. */
    obey(key: string, shiftKey: boolean): boolean {
      if (items.length === 0 || shiftKey) return false;
      const to = goesTo(key, active, items.length);
      const picked = picks(key, active) ? items[Math.max(0, active)] : undefined;
      if (to !== undefined) setGone({ text, to });
      else if (picked !== undefined) take(picked);
      else if (key === 'Escape') setClosedFor(text);
      else return false;
      return true;
    },
  };
}

/** Tab takes the first suggestion; Enter only one that was gone to, for else it sends. */
const picks = (key: string, active: number): boolean => key === 'Tab' || (key === 'Enter' && active >= 0);

/** Where an arrow goes; up from nothing is the past's, not the list's. */
function goesTo(key: string, active: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (active + 1) % count;
  return key === 'ArrowUp' && active >= 0 ? active - 1 : undefined;
}
