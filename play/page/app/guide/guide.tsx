import type { ReactNode } from 'react';
import type { Example } from '../../contract.ts';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { placeAt, placeKey } from '../state/session.ts';

/** The guided start: stories to click (where `offers`), each filling the composer as its person; then what to do next. */
export function Guide({ offers }: { readonly offers: boolean }): ReactNode {
  const examples = useWorld((world) => world.examples);
  const isOpen = useSession((session) => session.guide);
  const chosen = useSession((session) => session.example);
  const remember = useRemember();
  if (!isOpen || examples.length === 0) return null;
  const example = examples.find(({ id }) => id === chosen);
  if (example === undefined && !offers) return null;
  return (
    <section className="guide" aria-label="Guided start">
      <header className="guide-head">
        <h2>{example === undefined ? 'Take one, then press Enter' : example.title}</h2>
        {example !== undefined && (
          <button type="button" className="link-button" onClick={() => remember({ example: undefined })}>
            All examples
          </button>
        )}
        <button type="button" className="link-button" onClick={() => remember({ guide: false })}>
          Hide
        </button>
      </header>
      {example === undefined ? (
        <div className="guide-cards">
          {examples.map((one) => (
            <Card key={one.id} example={one} />
          ))}
        </div>
      ) : (
        <p className="guide-then">{example.then}</p>
      )}
    </section>
  );
}

function Card({ example }: { readonly example: Example }): ReactNode {
  const remember = useRemember();
  const nameOf = useName();
  const { id, title, story, user, channel, text } = example;
  const take = (): void => {
    remember(({ drafts }) => ({
      person: user,
      ...placeAt(channel),
      example: id,
      drafts: { ...drafts, [placeKey(user, channel)]: text },
    }));
    // The composer is another one when the person is: it is there after this turn.
    setTimeout(() => document.querySelector<HTMLElement>('.conversation .composer textarea')?.focus());
  };
  return (
    <button type="button" className="guide-card" onClick={take}>
      <span className="guide-who">
        <Avatar id={user} name={nameOf(user)} small />
        {nameOf(user)}
      </span>
      <strong>{title}</strong>
      <span className="guide-story">{story}</span>
    </button>
  );
}
