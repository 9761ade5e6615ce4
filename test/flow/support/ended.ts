import type { ContainerTermination } from '../../../src/core/container/pod.ts';
import { aPod, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { heldOf } from './fakes.ts';
import type { World } from './world.ts';

/** Every container that was launched so far has ended, as the kubelet says. */
export async function endAll(world: World, parts: Partial<ContainerTermination> = {}): Promise<void> {
  const at = (ms: number) => new Date(START_MS + ms).toISOString();
  const terminated = aTermination({ startedAt: at(0), finishedAt: at(2_000), ...parts });
  const { launches } = world.cluster;
  world.cluster.setPod(
    aPod({
      spec: {
        ephemeralContainers: launches.map((launch) => ({
          name: launch.container.name,
          image: launch.container.image,
          ...heldOf(launch),
        })),
      },
      status: {
        ephemeralContainerStatuses: launches.map(({ container: { name } }) => ({
          ...{ name, image: '', imageID: 'sha256:feed', restartCount: 0 },
          terminated,
        })),
      },
    }),
  );
  await settle();
}
