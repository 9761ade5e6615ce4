import type { ReactNode } from 'react';
import { isJson, type Json, objectsOf } from '../json.ts';
import { RichText, TextObject } from './rich-text.tsx';

/** A `table` block; its first row is the head, as in Slack. */
export function Table({ block }: { readonly block: Json }): ReactNode {
  const rows = Array.isArray(block.rows) ? block.rows.map((row) => (Array.isArray(row) ? row.filter(isJson) : [])) : [];
  const [head = [], ...body] = rows;
  return (
    <div className="block-table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
              <th key={index} scope="col">
                <Cell cell={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                <td key={column}>
                  <Cell cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Cell = ({ cell }: { readonly cell: Json }): ReactNode =>
  cell.type === 'rich_text' ? <RichText parts={objectsOf(cell.elements)} /> : <TextObject of={cell} />;
