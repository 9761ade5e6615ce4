import { type ReactNode, useState } from 'react';
import { type Json, objectsOf, stringOf } from '../json.ts';
import { safeHref } from '../text/links.ts';
import { richTextOf } from '../text/mrkdwn.ts';
import { RichText } from './rich-text.tsx';

interface Props {
  readonly attachments: readonly Json[];
  readonly press: (label: string) => Promise<void>;
}

/** Secondary attachments, the way in which other programs write alerts: a coloured bar, a title, words, fields and buttons. */
export function Attachments({ attachments, press }: Props): ReactNode {
  return attachments.map((attachment) => <Attachment key={stringOf(attachment.id)} of={attachment} press={press} />);
}

const COLOURS: Readonly<Record<string, string>> = { good: '#2eb886', warning: '#daa038', danger: '#a30200' };

function Attachment({ of, press }: { readonly of: Json; readonly press: Props['press'] }): ReactNode {
  const colour = stringOf(of.color);
  const href = safeHref(stringOf(of.title_link));
  const title = stringOf(of.title);
  return (
    <div className="attachment" style={{ borderLeftColor: COLOURS[colour] ?? (colour || '#dddddd') }}>
      {title !== '' && (
        <p className="attachment-title">
          {href === undefined ? (
            title
          ) : (
            <a href={href} target="_blank" rel="noreferrer">
              {title}
            </a>
          )}
        </p>
      )}
      <RichText parts={richTextOf(stringOf(of.text), { marks: true })} />
      <div className="attachment-buttons">
        {objectsOf(of.actions).map((action) => (
          <Action key={stringOf(action.id)} action={action} press={press} />
        ))}
      </div>
    </div>
  );
}

function Action({ action, press }: { readonly action: Json; readonly press: Props['press'] }): ReactNode {
  const [busy, setBusy] = useState(false);
  const label = stringOf(action.text);
  const href = safeHref(stringOf(action.url));
  const click = async (): Promise<void> => {
    setBusy(true);
    await press(label);
    setBusy(false);
  };
  if (href !== undefined)
    return (
      <a className="button" href={href} target="_blank" rel="noreferrer">
        {label}
      </a>
    );
  return (
    <button type="button" className="button" disabled={busy} onClick={() => void click()}>
      {label}
    </button>
  );
}
