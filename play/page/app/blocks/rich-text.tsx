import { Fragment, memo, type ReactNode } from 'react';
import { type Json, numberOf, objectsOf } from '../json.ts';
import { richTextOf } from '../text/mrkdwn.ts';
import { Span } from './span.tsx';
import { Words } from './words.tsx';

/** The parts of a `rich_text` block. */
export const RichText = memo(({ parts }: { readonly parts: readonly Json[] }) => (
  <div className="rich">
    {parts.map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts and spans have no id but their place
      <Part key={index} part={part} />
    ))}
  </div>
));

function Part({ part }: { readonly part: Json }): ReactNode {
  switch (part.type) {
    case 'rich_text_list':
      return <List part={part} />;
    case 'rich_text_preformatted':
      return (
        <pre>
          <Spans of={part} />
        </pre>
      );
    case 'rich_text_quote':
      return (
        <blockquote>
          <Spans of={part} />
        </blockquote>
      );
    default:
      return (
        <div className="rich-section">
          <Spans of={part} />
        </div>
      );
  }
}

function List({ part }: { readonly part: Json }): ReactNode {
  const indent = Math.min(8, numberOf(part.indent) ?? 0);
  const items = objectsOf(part.elements).map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts and spans have no id but their place
    <li key={index}>
      <Spans of={item} />
    </li>
  ));
  const className = `indent-${indent}`;
  if (part.style !== 'ordered') return <ul className={className}>{items}</ul>;
  return (
    <ol className={className} start={(numberOf(part.offset) ?? 0) + 1}>
      {items}
    </ol>
  );
}

const Spans = ({ of }: { readonly of: Json }): ReactNode =>
  objectsOf(of.elements).map((span, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts and spans have no id but their place
    <Fragment key={index}>
      <Span span={span} />
    </Fragment>
  ));

/** A text object, `plain_text` to the letter, `mrkdwn` as Slack reads it. */
export const TextObject = memo(({ of }: { readonly of: Json }) => {
  const text = typeof of.text === 'string' ? of.text : '';
  if (of.type === 'mrkdwn') return <RichText parts={richTextOf(text, { verbatim: of.verbatim === true })} />;
  return (
    <span className="plain">
      <Words>{text}</Words>
    </span>
  );
});
