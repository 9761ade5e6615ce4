import type { ReactNode } from 'react';
import { useRemember } from '../context.ts';
import { Icon } from '../parts/icon.tsx';

/** Says above an ephemeral message whose it is, and takes it away when asked; Slack keeps none either. */
export function PrivateNote({ ts }: { readonly ts: string }): ReactNode {
  const remember = useRemember();
  return (
    <p className="private-note">
      <Icon name="eye" /> Only visible to you
      <button
        type="button"
        className="link-button"
        onClick={() => remember(({ dismissed }) => ({ dismissed: [...dismissed, ts] }))}
      >
        Dismiss
      </button>
    </p>
  );
}
