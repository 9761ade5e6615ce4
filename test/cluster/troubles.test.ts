import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { at } from '../../play/test/cluster/recorded/json.ts';
import { Target } from '../../play/test/cluster/recorded/target.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { isNamedOnCard } from '../troubles/cards.ts';
import { type Answered, type Judgement, judge, summaryOf } from '../troubles/judge.ts';
import { Stage } from '../troubles/stage.ts';
import { readTrouble, type Trouble, troubleNames } from '../troubles/trouble.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfigPath: string = path;
const CHANNEL = 'C0SHOP';
const USER = 'U0ROY';
const PATIENCE_MS = 60_000;
/** On a busy machine, kdebug refuses a request so, and asks to try again. */
const TRY_AGAIN = /Slack does not answer/;

const config = new KubeConfig();
config.loadFromFile(kubeconfigPath);

const POLICY = `version: 1
clusters:
  test: { context: "${config.getCurrentContext()}", default: true }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
defaultImage: autodiagnose
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: ["trouble-*"], classes: [observe], profiles: [restricted, baseline] }
limits: { runsPerUserPerMinute: 100, runsPerUser: 100, runsPerChannel: 200, pendingApprovalsPerUser: 100 }
`;

/** A few, spread over the list; `all` takes a quarter of an hour. Others are names. */
const SAMPLE = 6;
const wanted = process.env.KDEBUG_TROUBLES ?? 'some';
const playable = troubleNames()
  .map(readTrouble)
  .filter(({ laterHours }) => laterHours === 0);
const chosen = playable.filter(({ name }, index) => {
  if (wanted === 'all') return true;
  return wanted === 'some' ? index % Math.ceil(playable.length / SAMPLE) === 0 : wanted.split(',').includes(name);
});

/** What a look inside adds to a control is not the matter here. */
function judgeCard(trouble: Trouble, answered: Answered): Judgement {
  const judged = judge({ ...trouble, tick: 'either' }, answered);
  return { ...judged, isNamed: isNamedOnCard(trouble, judged, answered.head) };
}

describe('a question about a trouble', () => {
  let bed: Bed;
  let target: Target;
  let turn: Promise<unknown> = Promise.resolve();
  const judgements: Judgement[] = [];

  beforeAll(async () => {
    target = new Target(kubeconfigPath);
    bed = await startPatientBed({
      kubeconfig: readFileSync(kubeconfigPath, 'utf8'),
      policy: POLICY,
      transport: 'socket',
    });
  });

  afterAll(async () => {
    await bed?.stop();
    target?.close();
    process.stdout.write(`${summaryOf(judgements)}\n`);
  });

  /** One question at a time: people's cards are told apart by their time. */
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };

  const linesOf = (message: StoredMessage): readonly string[] =>
    describeMessage(bed.slack.state, message, { times: false })
      .slice(1)
      .map((line) => line.trim())
      .filter((line) => line !== '');

  /** Asks, and reads the card until its first two lines name the cause; for a minute, or until a private refusal. */
  async function ask(trouble: Trouble, words: string): Promise<Answered> {
    const before = new Set(bed.slack.state.channelMessages(CHANNEL).keys());
    const refusalsBefore = bed.slack.ephemerals(USER).length;
    const askedAtMs = Date.now();
    await bed.slack.deliver.command({ user: USER, channel: CHANNEL, text: words });
    const isCard = ({ ts, threadTs }: StoredMessage) => !before.has(ts) && threadTs === undefined;
    const refusal = () => bed.slack.ephemerals(USER)[refusalsBefore];
    const read = (): Answered => {
      const message = [...bed.slack.state.channelMessages(CHANNEL).values()].find(isCard) ?? refusal();
      const lines = message ? linesOf(message) : [];
      const isWell = lines.some((line) => /✅|:white_check_mark:/.test(line));
      return { head: lines.slice(0, 2), lines, isWell, seconds: (Date.now() - askedAtMs) / 1_000 };
    };
    const named = () => {
      const answered = read();
      const { isNamed } = judgeCard(trouble, answered);
      return (answered.lines.length > 0 && isNamed) || refusal() ? answered : undefined;
    };
    return bed.slack.until(named, PATIENCE_MS).catch(read);
  }

  /** As `ask`, as often as a person would. */
  async function askPatiently(trouble: Trouble, words: string): Promise<Answered> {
    for (let left = 2; ; left -= 1) {
      const answered = await ask(trouble, words);
      if (left === 0 || !TRY_AGAIN.test(answered.head.join('\n'))) return answered;
    }
  }

  async function nameOfPod(stage: Stage, label: string): Promise<string> {
    const query = `?labelSelector=${encodeURIComponent(label)}`;
    const pods = await stage.list(`/api/v1/namespaces/${stage.namespace}/pods${query}`);
    return String(at(pods[0], 'metadata', 'name'));
  }

  it.concurrent.each(chosen)('$name: the card names its cause within a minute, and nothing else', async (trouble) => {
    const stage = new Stage(target, trouble);
    try {
      await stage.play();
      const asked = trouble.ask ?? (await nameOfPod(stage, trouble.askPod ?? ''));
      const answered = await inTurn(() => askPatiently(trouble, `${asked} -n ${stage.namespace}`));
      const judgement = judgeCard(trouble, answered);
      judgements.push(judgement);
      expect(judgement, answered.lines.join('\n')).toMatchObject({
        isNamed: true,
        isCalledWell: false,
        falseLines: [],
        sentAway: [],
      });
    } finally {
      await stage.remove();
    }
  });
});
