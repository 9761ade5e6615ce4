import { type ReactNode, useEffect, useState } from 'react';
import type { RequestDetail } from '../../contract.ts';
import { usePlay, useWorld } from '../context.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Scroller } from '../parts/scroller.tsx';

interface Props {
  readonly id: string;
  readonly onClose: () => void;
}

/** One request of the bot, whole, as JSON; asked for again once it is answered. */
export function RequestDialog({ id, onClose }: Props): ReactNode {
  const { server } = usePlay();
  const [detail, setDetail] = useState<RequestDetail>();
  const [failed, setFailed] = useState<string>();
  const status = useWorld(({ requests }) => requests.find((one) => one.id === id)?.status);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another status means another answer
  useEffect(() => {
    let isHere = true;
    server.request(id).then(
      (found) => isHere && setDetail(found),
      (error: unknown) => isHere && setFailed(String(error)),
    );
    return () => {
      isHere = false;
    };
  }, [server, id, status]);
  return (
    <Dialog title={detail?.what ?? 'Request'} wide onClose={onClose}>
      {failed !== undefined && <p role="alert">{failed}</p>}
      {detail !== undefined && (
        <div className="detail">
          <p className="small">
            {new Date(detail.atMs).toISOString()} · to {detail.to === 'slack' ? 'Slack' : 'Kubernetes'} · status{' '}
            {detail.status === 0 ? 'none' : detail.status}
            {detail.error !== undefined && ` · ${detail.error}`}
          </p>
          <Json title="Request" value={detail.request} />
          {detail.response !== undefined && <Json title="Response" value={detail.response} />}
        </div>
      )}
    </Dialog>
  );
}

const Json = ({ title, value }: { readonly title: string; readonly value: unknown }): ReactNode => (
  <section aria-label={title}>
    <h3>{title}</h3>
    <Scroller as="pre" label={`${title} as JSON`}>
      {JSON.stringify(value, null, 2)}
    </Scroller>
  </section>
);
