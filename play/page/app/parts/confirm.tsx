import type { ReactNode } from 'react';
import { TextObject } from '../blocks/rich-text.tsx';
import { type Json, objectOf, stringOf } from '../json.ts';
import { Dialog } from './dialog.tsx';

interface Props {
  /** Slack's confirmation dialog object. */
  readonly confirm: Json;
  readonly onAnswer: (yes: boolean) => void;
}

export function ConfirmDialog({ confirm, onAnswer }: Props): ReactNode {
  const words = (name: string, otherwise: string): string => stringOf(objectOf(confirm[name]).text) || otherwise;
  return (
    <Dialog
      alert
      title={words('title', 'Are you sure?')}
      onClose={() => onAnswer(false)}
      footer={
        <>
          <button type="button" className="button" data-first-focus onClick={() => onAnswer(false)}>
            {words('deny', 'Cancel')}
          </button>
          <button
            type="button"
            className={confirm.style === 'danger' ? 'button button-danger' : 'button button-primary'}
            onClick={() => onAnswer(true)}
          >
            {words('confirm', 'Yes')}
          </button>
        </>
      }
    >
      <TextObject of={objectOf(confirm.text)} />
    </Dialog>
  );
}
