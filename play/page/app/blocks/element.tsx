import { type ReactNode, useState } from 'react';
import { type Json, objectOf, objectsOf, stringOf } from '../json.ts';
import { ConfirmDialog } from '../parts/confirm.tsx';
import { Menu } from '../parts/menu.tsx';
import { safeHref } from '../text/links.ts';
import { Choices } from './choices.tsx';
import { Picture } from './picture.tsx';
import { useSurface } from './surface.ts';

interface Props {
  readonly element: Json;
  readonly blockId: string;
}

/** Something to press in a message or view. It asks first when the app wants that, and is idle while it is being answered. */
export function Element({ element, blockId }: Props): ReactNode {
  const surface = useSurface();
  const [asked, setAsked] = useState<{ readonly chosen?: readonly string[] }>();
  const [busy, setBusy] = useState(false);
  if (element.type === 'image') return <Picture of={element} />;
  const send = async (chosen?: readonly string[]): Promise<void> => {
    setBusy(true);
    await surface.press(blockId, stringOf(element.action_id), chosen);
    setBusy(false);
  };
  const press = (chosen?: readonly string[]): void => {
    if (element.confirm === undefined) void send(chosen);
    else setAsked(chosen === undefined ? {} : { chosen });
  };
  return (
    <>
      <Control element={element} busy={busy} press={press} />
      {asked !== undefined && (
        <ConfirmDialog
          confirm={objectOf(element.confirm)}
          onAnswer={(yes) => {
            setAsked(undefined);
            if (yes) void send(asked.chosen);
          }}
        />
      )}
    </>
  );
}

interface ControlProps {
  readonly element: Json;
  readonly busy: boolean;
  readonly press: (chosen?: readonly string[]) => void;
}

function Control({ element, busy, press }: ControlProps): ReactNode {
  const options = objectsOf(element.options);
  switch (element.type) {
    case 'button':
      return <Button element={element} busy={busy} press={press} />;
    case 'overflow':
      return (
        <Menu
          label="More options"
          className="button button-icon"
          items={options.map((option) => ({
            id: stringOf(option.value),
            label: stringOf(objectOf(option.text).text),
            onPick: () => press([stringOf(option.value)]),
          }))}
        >
          ⋯
        </Menu>
      );
    default:
      return <Choices element={element} busy={busy} onPick={press} />;
  }
}

function Button({ element, busy, press }: ControlProps): ReactNode {
  const style = element.style === 'primary' || element.style === 'danger' ? ` button-${element.style}` : '';
  const href = safeHref(stringOf(element.url));
  return (
    <button
      type="button"
      className={`button${style}`}
      // A disabled button would lose the keyboard's place.
      aria-disabled={busy}
      aria-label={stringOf(element.accessibility_label) || undefined}
      onClick={() => {
        if (busy) return;
        if (href !== undefined) window.open(href, '_blank', 'noopener,noreferrer');
        press();
      }}
    >
      {stringOf(objectOf(element.text).text)}
    </button>
  );
}
