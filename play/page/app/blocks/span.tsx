import type { ReactNode } from 'react';
import { useName, useSession, useWorld } from '../context.ts';
import { type Json, numberOf, objectOf, stringOf } from '../json.ts';
import { slackDate } from '../text/date.ts';
import { emojiNamed } from '../text/emoji.ts';
import { safeHref } from '../text/links.ts';
import { readPermalink } from '../text/permalink.ts';
import { MessageLink } from './message-link.tsx';
import { Words } from './words.tsx';

const MARKS = [
  ['bold', 'b'],
  ['italic', 'i'],
  ['strike', 's'],
  ['code', 'code'],
] as const;

/** One element of rich text. A kind that is not known shows its words. */
export function Span({ span }: { readonly span: Json }): ReactNode {
  const style = objectOf(span.style);
  let drawn: ReactNode = <Plain span={span} />;
  for (const [name, Tag] of MARKS) if (style[name] === true) drawn = <Tag>{drawn}</Tag>;
  return drawn;
}

function Plain({ span }: { readonly span: Json }): ReactNode {
  switch (span.type) {
    case 'user':
      return <Person id={stringOf(span.user_id)} />;
    case 'usergroup':
      return <Group id={stringOf(span.usergroup_id)} />;
    case 'channel':
      return <Channel id={stringOf(span.channel_id)} />;
    case 'broadcast':
      return <span className="mention mention-all">@{stringOf(span.range)}</span>;
    case 'date':
      return <Moment span={span} />;
    case 'emoji':
      return <Words>{emojiNamed(stringOf(span.name))}</Words>;
    case 'link':
      return <Link address={stringOf(span.url)}>{stringOf(span.text) || stringOf(span.url)}</Link>;
    case 'color':
      return stringOf(span.value);
    default:
      return <Words>{stringOf(span.text)}</Words>;
  }
}

function Person({ id }: { readonly id: string }): ReactNode {
  const nameOf = useName();
  const isMe = useSession(({ person }) => person === id);
  return <span className={isMe ? 'mention mention-me' : 'mention'}>@{nameOf(id)}</span>;
}

function Group({ id }: { readonly id: string }): ReactNode {
  const group = useWorld(({ team }) => team.usergroups[id]);
  const isMe = useSession(({ person }) => group?.users.includes(person) === true);
  return (
    <span className={isMe ? 'mention mention-me' : 'mention'} title={group?.name}>
      @{group?.handle ?? id}
    </span>
  );
}

function Channel({ id }: { readonly id: string }): ReactNode {
  const name = useWorld(({ team }) => team.channels[id]?.name);
  return <span className="mention">#{name ?? id}</span>;
}

function Moment({ span }: { readonly span: Json }): ReactNode {
  const timestamp = numberOf(span.timestamp) ?? Number.NaN;
  const fallback = stringOf(span.fallback);
  const words = slackDate(timestamp, stringOf(span.format), { nowMs: Date.now(), fallback });
  const href = stringOf(span.url) === '' ? undefined : safeHref(stringOf(span.url));
  const shown = <time title={fallback}>{words}</time>;
  return href === undefined ? shown : <Link address={href}>{words}</Link>;
}

/** A link, if its address is allowed; the tooltip shows the address. */
export function Link({ address, children }: { readonly address: string; readonly children: string }): ReactNode {
  const domain = useWorld(({ team }) => team.domain);
  const href = safeHref(address);
  if (href === undefined) return <Words>{children}</Words>;
  const linked = readPermalink(href, domain);
  if (linked !== undefined)
    return (
      <MessageLink href={href} linked={linked}>
        {children}
      </MessageLink>
    );
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children}
    </a>
  );
}
