import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { useRemember, useSession } from '../context.ts';
import { Scroller } from '../parts/scroller.tsx';
import { useFollowed } from './use-followed.ts';
import { useLog } from './use-log.ts';

/** The log of the chosen container as it grows; by itself that of the newest debug container. */
export function Log(): ReactNode {
  const remember = useRemember();
  const follow = useSession((session) => session.follow);
  useFollowed();
  const choice = useSession((session) => session.log);
  const { text, state } = useLog(choice);
  const area = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (area.current !== null && atEnd.current && text !== '') area.current.scrollTop = area.current.scrollHeight;
  }, [text]);
  return (
    <section className="log" aria-label="Log">
      <header className="log-head">
        <h3>{choice === undefined ? 'Log' : `${choice.pod} / ${choice.container}`}</h3>
        <label className="small">
          <input type="checkbox" checked={follow} onChange={({ target }) => remember({ follow: target.checked })} />
          Newest debug container
        </label>
      </header>
      <Scroller
        as="pre"
        ref={area}
        label="Log text"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < 30;
        }}
      >
        {text}
        <span className="log-state">{choice === undefined ? 'Choose a container above to see its log.' : state}</span>
      </Scroller>
    </section>
  );
}
