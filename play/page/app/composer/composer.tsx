import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useSession, useWorld } from '../context.ts';
import { useDo } from '../conversation/use-do.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { Popup } from './popup.tsx';
import { useDraft } from './use-draft.ts';
import { useHistory } from './use-history.ts';
import { useSuggestions } from './use-suggestions.ts';

interface Props {
  readonly channel: string;
  readonly thread?: string;
  readonly label: string;
  readonly onSend: () => void;
}

const HINT = 'Enter sends · Shift+Enter new line · Tab completes · ↑ history';
const SHORT_HINT = 'Enter sends · Tab completes · ↑ history';

/** Where one types. Enter sends, Shift+Enter begins a line, Tab takes a suggestion, arrow up brings back what was sent. */
export function Composer({ channel, thread, label, onSend }: Props): ReactNode {
  const person = useSession((session) => session.person);
  const { text, write, send, busy, failed } = useDraft({ person, channel, thread });
  const [caret, setCaret] = useState(text.length);
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const past = useHistory(person);
  const put = (next: string, at = next.length): void => {
    write(next);
    setCaret(at);
  };
  const list = useSuggestions({ text, caret, inThread: thread !== undefined, onTake: put });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another height
  useLayoutEffect(() => makeRoom(area.current), [text]);
  useEffect(() => {
    const element = area.current;
    if (element !== null && document.activeElement === element && element.selectionStart !== caret)
      element.setSelectionRange(caret, caret);
  }, [caret]);

  const sendAll = (): void => {
    const said = text.trim();
    if (said === '') return;
    past.add(said);
    setCaret(0);
    void send(said);
    onSend();
  };
  const obey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (list.obey(key, shiftKey)) return true;
    const older = past.step(key, text);
    if (older !== undefined) put(older);
    else if (key === 'Enter' && !shiftKey) sendAll();
    else return false;
    return true;
  };
  const { items, active } = list;
  const isOpen = items.length > 0;
  return (
    <div className="composer">
      {isOpen && (
        <Popup
          id={listId}
          items={items}
          active={active}
          onPick={(item) => {
            list.take(item);
            area.current?.focus();
          }}
        />
      )}
      {failed !== undefined && (
        <p className="composer-error" role="alert">
          {failed}
        </p>
      )}
      <div className="composer-box">
        <Shortcuts />
        <textarea
          ref={area}
          rows={1}
          value={text}
          placeholder={label}
          aria-label={label}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={isOpen ? listId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => {
            past.leave();
            put(target.value, target.selectionStart);
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
          onKeyDown={(event) => {
            // While an input method composes, the keys are its own.
            if (!event.nativeEvent.isComposing && obey(event)) event.preventDefault();
          }}
          onBlur={list.close}
          onFocus={list.reopen}
        />
        <button type="button" className="send" aria-label="Send" disabled={text.trim() === ''} onClick={sendAll}>
          <Icon name="send" />
        </button>
      </div>
      <p className="composer-hint" aria-hidden="true">
        {busy ? 'Sending…' : thread === undefined ? HINT : SHORT_HINT}
      </p>
    </div>
  );
}

/** The app's shortcuts that belong to no message. */
function Shortcuts(): ReactNode {
  const act = useDo();
  const person = useSession((session) => session.person);
  const shortcuts = useWorld((world) => world.globalShortcuts);
  const items = shortcuts.map(({ callbackId, name }) => ({
    id: callbackId,
    label: name,
    detail: 'kdebug',
    onPick: () => void act({ kind: 'shortcut', user: person, callbackId }),
  }));
  return (
    <Menu label="Shortcuts" title="Shortcuts" className="icon-button" items={items}>
      <Icon name="more" />
    </Menu>
  );
}

/** As high as its text, to a limit that the style sheet sets. */
function makeRoom(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight}px`;
}
