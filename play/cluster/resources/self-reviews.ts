import { answer, type Call, type Handler, readBody } from '../api/call.ts';
import { rfc3339 } from '../objects/pod.ts';
import type { World } from '../world.ts';

/** SelfSubjectReview (authentication/v1): who the server takes the caller for, after impersonation (`kubectl auth whoami`). */
export function selfReviewHandlers(world: World): readonly (readonly [string, Handler])[] {
  return [['create selfsubjectreviews', (call) => review(world, call)]];
}

async function review(world: World, call: Call): Promise<void> {
  await readBody(call);
  const { name, uid, groups, extra } = call.identity.user;
  const userInfo = {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  const metadata = { creationTimestamp: rfc3339(world.clock.now()) };
  const apiVersion = 'authentication.k8s.io/v1';
  answer(call, 201, { kind: 'SelfSubjectReview', apiVersion, metadata, status: { userInfo } });
}
