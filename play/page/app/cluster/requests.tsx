import { memo, type ReactNode, useState } from 'react';
import type { RequestLine } from '../../contract.ts';
import { useWorld } from '../context.ts';
import { RequestDialog } from './request-dialog.tsx';

type Filter = 'all' | 'slack' | 'kubernetes';
const FILTERS: readonly { readonly id: Filter; readonly title: string }[] = [
  { id: 'all', title: 'All' },
  { id: 'slack', title: 'To Slack' },
  { id: 'kubernetes', title: 'To Kubernetes' },
];

/** What the bot asked of Slack and of the cluster, newest first; each can be opened. */
export function Requests(): ReactNode {
  const requests = useWorld((world) => world.requests);
  const [filter, setFilter] = useState<Filter>('all');
  const [open, setOpen] = useState<string>();
  const shown = requests.filter(({ to }) => filter === 'all' || to === filter).toReversed();
  return (
    <>
      <fieldset className="filters">
        <legend className="only-heard">Requests to</legend>
        {FILTERS.map(({ id, title }) => (
          <label key={id}>
            <input type="radio" name="requests-to" checked={filter === id} onChange={() => setFilter(id)} />
            {title}
          </label>
        ))}
      </fieldset>
      <ol className="requests">
        {shown.map((request) => (
          <li key={request.id}>
            <Line request={request} onOpen={setOpen} />
          </li>
        ))}
      </ol>
      {shown.length === 0 && <p className="empty">None yet.</p>}
      {open !== undefined && <RequestDialog id={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** `200`, `429 ratelimited`, `channel_not_found` (Slack says that with a 200), `…` while there is none. */
function answerOf(status: number, error: string | undefined): string {
  if (error !== undefined) return status >= 400 ? `${status} ${error}` : error;
  return status === 0 ? '…' : String(status);
}

interface LineProps {
  readonly request: RequestLine;
  readonly onOpen: (id: string) => void;
}

const Line = memo(({ request: { id, to, what, status, error, atMs }, onOpen }: LineProps): ReactNode => {
  const isBad = error !== undefined || status >= 400;
  return (
    <button type="button" className={isBad ? 'request request-bad' : 'request'} onClick={() => onOpen(id)}>
      <span className={`request-to request-to-${to}`}>{to === 'slack' ? 'Slack' : 'K8s'}</span>
      <span className="request-what">{what}</span>
      <span className="request-status">{answerOf(status, error)}</span>
      <time>{new Date(atMs).toLocaleTimeString('en-GB')}</time>
    </button>
  );
});
