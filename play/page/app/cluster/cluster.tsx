import { type ReactNode, useState } from 'react';
import { useWorld } from '../context.ts';
import { Tabs } from '../parts/tabs.tsx';
import { Events } from './events.tsx';
import { Log } from './log.tsx';
import { Pods } from './pods.tsx';
import { Requests } from './requests.tsx';
import { Troubles } from './troubles.tsx';

type Tab = 'pods' | 'events' | 'requests';

/** The right side: what the bot does to the cluster, and what one can do to both. */
export function Cluster(): ReactNode {
  const [tab, setTab] = useState<Tab>('pods');
  const requests = useWorld((world) => world.requests.length);
  const isReal = useWorld((world) => world.isRealCluster);
  return (
    <aside className="cluster" aria-label="Cluster">
      <header className="pane-head">
        <h2>Cluster</h2>
        <Troubles />
        {isReal && (
          <p className="watch">
            This is a real cluster: it is left alone, so nothing here makes it worse, there are no examples for its
            pods, and of the bot’s requests only those to Slack are seen.
          </p>
        )}
      </header>
      <Tabs
        label="What of the cluster"
        chosen={tab}
        onChoose={setTab}
        tabs={[
          { id: 'pods', title: 'Pods' },
          { id: 'events', title: 'Events' },
          { id: 'requests', title: `Requests ${requests}` },
        ]}
      >
        {tab === 'pods' && <Pods />}
        {tab === 'events' && <Events />}
        {tab === 'requests' && <Requests />}
      </Tabs>
      <Log />
    </aside>
  );
}
