import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Option } from '../blocks/options.ts';

interface Props {
  readonly id: string;
  readonly describedBy: string;
  readonly invalid: boolean;
  readonly placeholder: string;
  /** What is chosen; undefined: nothing. */
  readonly chosen: Option | undefined;
  /** Undefined: the menu could not be loaded. */
  readonly search: (typed: string) => Promise<readonly Option[] | undefined>;
  readonly onPick: (option: Option | undefined) => void;
}

/** As Slack does: it waits for a pause in the typing. */
const PAUSE_MS = 150;

/** A menu whose options the app searches as one types; the keyboard stays in the field. */
export function Search({ id, describedBy, invalid, placeholder, chosen, search, onPick }: Props): ReactNode {
  const listId = useId();
  /** Undefined: the list is closed, and the field shows what is chosen. */
  const [typed, setTyped] = useState<string>();
  const [found, setFound] = useState<readonly Option[]>();
  const [failed, setFailed] = useState(false);
  const [active, setActive] = useState(0);
  const newest = useRef(0);
  const latest = useRef(search);
  latest.current = search;
  useEffect(() => {
    newest.current += 1;
    if (typed === undefined) return;
    const mine = newest.current;
    const timer = setTimeout(
      async () => {
        const options = await latest.current(typed);
        if (mine !== newest.current) return;
        setFound(options ?? []);
        setFailed(options === undefined);
        setActive(0);
      },
      typed === '' ? 0 : PAUSE_MS,
    );
    return () => clearTimeout(timer);
  }, [typed]);
  const close = (): void => {
    setTyped(undefined);
    setFound(undefined);
  };
  const pick = (option: Option): void => {
    onPick(option);
    close();
  };
  const isOpen = typed !== undefined;
  const move = (step: number): void => {
    const last = Math.max((found?.length ?? 0) - 1, 0);
    if (isOpen) setActive((now) => Math.min(Math.max(now + step, 0), last));
    else setTyped('');
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    // Never submits the form: Slack's menus do not.
    Enter: () => {
      const option = isOpen ? found?.[active] : undefined;
      if (option) pick(option);
    },
    ...(isOpen && { Escape: close }),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    <div className="search">
      <input
        id={id}
        type="text"
        className="input"
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={isOpen && found?.length ? `${listId}-${active}` : undefined}
        aria-describedby={describedBy || undefined}
        aria-invalid={invalid || undefined}
        placeholder={chosen?.label ?? placeholder}
        value={typed ?? chosen?.label ?? ''}
        onClick={() => setTyped((now) => now ?? '')}
        onBlur={close}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={onKeyDown}
      />
      {isOpen && <Found id={listId} found={found} failed={failed} active={active} onPick={pick} />}
    </div>
  );
}

interface FoundProps {
  readonly id: string;
  /** Undefined: the app has not answered yet. */
  readonly found: readonly Option[] | undefined;
  readonly failed: boolean;
  readonly active: number;
  readonly onPick: (option: Option) => void;
}

function Found({ id, found, failed, active, onPick }: FoundProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const words = failed ? 'The menu could not be loaded.' : found === undefined ? 'Searching…' : 'No results';
  return (
    <div ref={list} id={id} className="search-found" role="listbox" aria-label="Results">
      {!found?.length && (
        <p className="small" role="status">
          {words}
        </p>
      )}
      {found?.map((option, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant of the field points here
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
        <div
          key={option.value}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(option)}
        >
          <span>{option.label}</span>
          {option.description !== undefined && <small>{option.description}</small>}
        </div>
      ))}
    </div>
  );
}
