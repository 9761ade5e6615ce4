import { memo, type ReactNode } from 'react';
import { type Json, objectOf, objectsOf, stringOf } from '../json.ts';
import { richTextOf } from '../text/mrkdwn.ts';
import { Chart } from './chart.tsx';
import { Element } from './element.tsx';
import { Picture } from './picture.tsx';
import { RichText, TextObject } from './rich-text.tsx';
import { Table } from './table.tsx';

/**
 * Block Kit, drawn by components of our own. `slack-blocks-to-jsx` 1.1.1 was tried and is not used: it reads markup, mentions
 * and emoji in `plain_text` (a log line would become formatting), shows `verbatim` mrkdwn raw, ignores a date's format,
 * gives every message the same DOM id, throws on a malformed block, and takes 6.5 ms a message and 140 KB (gzip) of page.
 */
export const Blocks = memo(({ blocks }: { readonly blocks: readonly Json[] }) => (
  <div className="blocks">
    {blocks.map((block, index) => (
      <Block key={keyOf(block, index)} block={block} />
    ))}
  </div>
));

/** An update gives every block a new id; a question that a button asks must stay open. */
const keyOf = (block: Json, index: number): string | number =>
  block.type === 'actions' ? `actions ${index}` : stringOf(block.block_id) || index;

const Block = memo(({ block }: { readonly block: Json }): ReactNode => {
  switch (block.type) {
    case 'header':
      return (
        <h3 className="block-header">
          <TextObject of={objectOf(block.text)} />
        </h3>
      );
    case 'section':
      return <Section block={block} />;
    case 'context':
      return <Context block={block} />;
    case 'rich_text':
      return <RichText parts={objectsOf(block.elements)} />;
    case 'divider':
      return <hr />;
    case 'actions':
      return <Actions block={block} />;
    case 'image':
      return <Picture of={block} large />;
    case 'markdown':
      return (
        <RichText
          parts={richTextOf(
            stringOf(block.text)
              .replaceAll('**', '*')
              .replaceAll(/^#+ (.*)$/gm, '*$1*'),
          )}
        />
      );
    case 'table':
      return <Table block={block} />;
    case 'data_visualization':
      return <Chart block={block} />;
    default:
      return <p className="unknown">This page does not draw blocks of type “{stringOf(block.type)}”.</p>;
  }
});

function Section({ block }: { readonly block: Json }): ReactNode {
  const fields = objectsOf(block.fields);
  return (
    <div className="block-section">
      <div className="block-section-text">
        {block.text !== undefined && <TextObject of={objectOf(block.text)} />}
        {fields.length > 0 && (
          <div className="block-fields">
            {fields.map((field, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: fields have no other identity
              <div key={index}>
                <TextObject of={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {block.accessory !== undefined && (
        <Element element={objectOf(block.accessory)} blockId={stringOf(block.block_id)} />
      )}
    </div>
  );
}

function Context({ block }: { readonly block: Json }): ReactNode {
  return (
    <div className="block-context">
      {objectsOf(block.elements).map((element, index) =>
        element.type === 'image' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: elements have no other identity
          <Picture key={index} of={element} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: elements have no other identity
          <TextObject key={index} of={element} />
        ),
      )}
    </div>
  );
}

const Actions = ({ block }: { readonly block: Json }): ReactNode => (
  <div className="block-actions">
    {objectsOf(block.elements).map((element, index) => (
      <Element key={stringOf(element.action_id) || index} element={element} blockId={stringOf(block.block_id)} />
    ))}
  </div>
);
