import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { usePlay, useRemember, useSession, useWorld } from '../context.ts';
import { Icon } from '../parts/icon.tsx';
import { placeKey } from '../state/session.ts';
import { type Suggestion, suggest } from './complete.ts';
import { Popup } from './popup.tsx';
import { useHistory } from './use-history.ts';

interface Props {
  readonly channel: string;
  readonly thread?: string;
  readonly label: string;
}

/** Where one types. Enter sends, Shift+Enter begins a line, Tab takes a suggestion, arrow up brings back what was sent. */
export function Composer({ channel, thread, label }: Props): ReactNode {
  const { server } = usePlay();
  const remember = useRemember();
  const person = useSession((session) => session.person);
  const key = placeKey(person, channel, thread);
  const text = useSession(({ drafts }) => drafts[key] ?? '');
  const completion = useWorld((world) => world.completion);
  const pods = useWorld((world) => world.pods);
  const [caret, setCaret] = useState(text.length);
  const [closed, setClosed] = useState('');
  const [active, setActive] = useState(-1);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string>();
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const past = useHistory(person);

  const write = (next: string, at = next.length): void => {
    remember(({ drafts }) => ({ drafts: { ...drafts, [key]: next } }));
    setCaret(at);
    setActive(-1);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another height
  useLayoutEffect(() => makeRoom(area.current), [text]);
  useEffect(() => {
    const element = area.current;
    if (element !== null && document.activeElement === element && element.selectionStart !== caret)
      element.setSelectionRange(caret, caret);
  }, [caret]);

  const found = suggest(text, caret, { completion, pods, inThread: thread !== undefined });
  const items = closed === text ? [] : found.items;
  const take = ({ insert }: Suggestion): void => {
    write(
      `${text.slice(0, found.from)}${insert}${text.slice(found.to).replace(/^\s/, '')}`,
      found.from + insert.length,
    );
    area.current?.focus();
  };
  const send = async (): Promise<void> => {
    const said = text.trim();
    if (said === '' || busy) return;
    past.add(said);
    write('');
    setBusy(true);
    setFailed(undefined);
    const words = { kind: 'type', user: person, channel, text: said } as const;
    const answer = await server.do(thread === undefined ? words : { ...words, threadTs: thread });
    setBusy(false);
    if (answer.ok) return;
    setFailed(answer.error);
    // Unless something else was begun meanwhile.
    remember(({ drafts }) => (drafts[key] ? {} : { drafts: { ...drafts, [key]: said } }));
  };
  /** Whether the key was one of the open list. */
  const obeyList = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const move = moves(key, active, items.length);
    const picked = picks(key, active) && !shiftKey ? items[Math.max(0, active)] : undefined;
    if (move !== undefined) setActive(move);
    else if (picked !== undefined) take(picked);
    else if (key === 'Escape') setClosed(text);
    else return false;
    return true;
  };
  const obey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const older = past.step(key, text);
    if (older !== undefined) write(older);
    else if (key === 'Enter' && !shiftKey) void send();
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    // While an input method composes, the keys are its own.
    if (event.nativeEvent.isComposing) return;
    if ((items.length > 0 && obeyList(event)) || obey(event)) event.preventDefault();
  };
  return (
    <div className="composer">
      {items.length > 0 && <Popup id={listId} items={items} active={active} onPick={take} />}
      {failed !== undefined && (
        <p className="composer-error" role="alert">
          {failed}
        </p>
      )}
      <div className="composer-box">
        <textarea
          ref={area}
          rows={1}
          value={text}
          placeholder={label}
          aria-label={label}
          role="combobox"
          aria-expanded={items.length > 0}
          aria-controls={items.length > 0 ? listId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => {
            past.leave();
            setFailed(undefined);
            write(target.value, target.selectionStart);
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onBlur={() => setClosed(text)}
          onFocus={() => setClosed('')}
        />
        <button
          type="button"
          className="send"
          aria-label="Send"
          disabled={text.trim() === ''}
          onClick={() => void send()}
        >
          <Icon name="send" />
        </button>
      </div>
      <p className="composer-hint" aria-hidden="true">
        {busy ? 'Sending…' : 'Enter sends · Shift+Enter: new line · Tab completes · ↑ what you sent before'}
      </p>
    </div>
  );
}

/** Tab takes the first suggestion; Enter only one that was gone to, for else it sends. */
const picks = (key: string, active: number): boolean => key === 'Tab' || (key === 'Enter' && active >= 0);

/** Where an arrow goes in the open list; up from nothing is the past's, not the list's. */
function moves(key: string, active: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (active + 1) % count;
  if (key === 'ArrowUp' && active >= 0) return active - 1;
  return undefined;
}

/** As high as its text, to a limit that the style sheet sets. */
function makeRoom(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight}px`;
}
