import { startLocalSlack, type Team } from '../../play/slack/index.ts';
import { startApp } from '../app.ts';
import { atMost, ms, type Row } from '../figures.ts';
import { addChannels, channelId, contextOf, policyText } from '../policy.ts';
import { localScene, type Scene } from '../scene.ts';

const PEOPLE = 10;
/** An anchor and a result each. */
const POSTS = 2 * PEOPLE;
const LIMIT_MS = 8_000;
const PATIENCE_MS = 60_000;
const KUBELET_MS = 1_000;

interface Crowd {
  /** From the first command to the last anchor, and to the last result. */
  readonly anchorsMs: number;
  readonly resultsMs: number;
  readonly refused: number;
}

/** Ten people type a command in one channel at the same moment, at Slack's rates. */
export async function* crowd(): AsyncGenerator<Row> {
  const scene = await localScene(KUBELET_MS, PEOPLE);
  try {
    yield rowOf(await timeCrowd(scene));
  } finally {
    await scene.close();
  }
}

async function timeCrowd({ kubeconfig, namespace, image, pods }: Scene): Promise<Crowd> {
  const slack = await startLocalSlack({ team: withPeople });
  const channel = channelId(0);
  const policy = policyText({ context: contextOf(kubeconfig), namespace, image, channels: 1 });
  const app = await startApp({ slack, kubeconfig, policy });
  try {
    const startMs = performance.now();
    const deliveries = await Promise.all(
      pods.map((pod, index) =>
        slack.deliver.command({
          user: personId(index),
          channel,
          text: `${pod} -n ${namespace} --image=debian -- echo hello`,
        }),
      ),
    );
    const error = deliveries.find((delivery) => delivery.error !== undefined)?.error;
    if (error !== undefined) throw new Error(`Slack saw ${error}`);
    const anchors = await slack.until(() => {
      const found = slack.messages(channel);
      return found.length === PEOPLE && found;
    }, PATIENCE_MS);
    const anchorsMs = performance.now() - startMs;
    await slack.until(() => anchors.every(({ ts }) => slack.thread(channel, ts).length > 0), PATIENCE_MS);
    const resultsMs = performance.now() - startMs;
    const posts = slack.requests('chat.postMessage');
    return { anchorsMs, resultsMs, refused: posts.filter(({ ok }) => !ok).length };
  } finally {
    await app.stop();
    await slack.stop();
  }
}

const personId = (index: number): string => `U0CROWD${index}`;

function withPeople(team: Team): void {
  const roy = team.users.U0ROY;
  if (!roy) throw new Error('the local workspace has no U0ROY');
  for (let index = 0; index < PEOPLE; index += 1) {
    const id = personId(index);
    team.users[id] = { ...roy, id, name: `crowd-${index}` };
    team.channels.C0SHOP?.members.push(id);
  }
  addChannels(team, 1);
}

function rowOf({ anchorsMs, resultsMs, refused }: Crowd): Row {
  return {
    name: `${PEOPLE} people at once in one channel, kubelet of ${KUBELET_MS / 1_000} s`,
    figures: {
      kdebug: `last first word after ${ms(anchorsMs)}, last result after ${ms(resultsMs)}`,
      'one post a second': `${ms((POSTS - 1) * 1_000)} for the ${POSTS} posts`,
      'posts that Slack refused': `${refused}`,
    },
    targets: [{ text: `last result ≤ ${ms(LIMIT_MS)}`, met: atMost(resultsMs, LIMIT_MS) }],
  };
}
