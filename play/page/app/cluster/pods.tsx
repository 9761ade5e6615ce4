import { memo, type ReactNode } from 'react';
import type { PageContainer, PagePod } from '../../contract.ts';
import { useRemember, useSession, useWorld } from '../context.ts';
import { pageImage, podHealth, stateWords } from './pod-words.ts';

export function Pods(): ReactNode {
  const pods = useWorld((world) => world.pods);
  const namespaces = [...new Set(pods.map(({ namespace }) => namespace))];
  const known = useWorld(({ completion }) => completion.namespaces.join(', '));
  if (pods.length === 0) return <p className="empty">No pods in the namespaces that the policy names: {known}.</p>;
  return namespaces.map((namespace) => (
    <section key={namespace} className="namespace" aria-label={`Namespace ${namespace}`}>
      <h3>{namespace}</h3>
      <ul>
        {pods
          .filter((pod) => pod.namespace === namespace)
          .map((pod) => (
            <li key={pod.uid}>
              <Pod pod={pod} />
            </li>
          ))}
      </ul>
    </section>
  ));
}

const Pod = memo(({ pod }: { readonly pod: PagePod }): ReactNode => {
  const { health, words } = podHealth(pod);
  const restarts = pod.containers.reduce((sum, one) => sum + one.restarts, 0);
  return (
    <article className="pod" aria-label={`Pod ${pod.name}`}>
      <p className="pod-head">
        <span className={`light light-${health}`} aria-hidden="true" />
        <strong>{pod.name}</strong>
        <span className="pod-state">{words}</span>
        {restarts > 0 && (
          <span className="pod-restarts" title="Restarts of its containers">
            ↻ {restarts} <span className="only-heard">restarts</span>
          </span>
        )}
      </p>
      {pod.containers.map((container) => (
        <Container key={container.name} pod={pod} container={container} />
      ))}
    </article>
  );
});

/** Choosing one shows its log below. */
function Container({ pod, container }: { readonly pod: PagePod; readonly container: PageContainer }): ReactNode {
  const remember = useRemember();
  const chosen = useSession(
    ({ log }) => log?.pod === pod.name && log.namespace === pod.namespace && log.container === container.name,
  );
  const isDebug = container.kind === 'debug';
  return (
    <button
      type="button"
      className={isDebug ? 'container container-debug' : 'container'}
      aria-pressed={chosen}
      title={`${container.image}${container.target === undefined ? '' : `, looking at ${container.target}`}. Shows its log.`}
      onClick={() =>
        remember({ follow: false, log: { namespace: pod.namespace, pod: pod.name, container: container.name } })
      }
    >
      <span className="container-name">{container.name}</span>
      {isDebug && <span className="badge badge-debug">debug</span>}
      <span className="container-image">{pageImage(container.image)}</span>
      <span className={`container-state state-${container.state}`}>{stateWords(container)}</span>
    </button>
  );
}
