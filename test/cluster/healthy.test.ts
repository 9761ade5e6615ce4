import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { Target } from '../../play/test/cluster/recorded/target.ts';
import { alarmsIn } from '../healthy/alarms.ts';
import { AGES, podNameOf } from '../healthy/program.ts';
import { HealthyStage } from '../healthy/stage.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { healthyPrograms } from './testbed/states.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
const CHANNEL = 'C0SHOP';
const USER = 'U0ROY';
const TRY_AGAIN = /Slack does not answer/;
/** A card that is not at its end yet. */
const GOES_ON = /⏳/u;

/** Programs that the gate lays out, at the ages that take least: all others are asked about where somebody wants it. */
const SAMPLE = ['postgres', 'redis'];
const SAMPLE_AGES = [5, 20];

const wanted = process.env.KDEBUG_HEALTHY;
const isChosen = (program: string): boolean => wanted === 'all' || (wanted?.split(',') ?? SAMPLE).includes(program);
const programs = healthyPrograms().filter(isChosen);
const ages = wanted === undefined ? SAMPLE_AGES : AGES;
/** Programs at once: each may use a CPU. */
const AT_ONCE = Number(process.env.KDEBUG_TESTBED_PODS ?? 2);

const policyFor = (context: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
defaultImage: autodiagnose
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: ["trouble-*"], classes: [observe], profiles: [restricted, baseline], targetLog: errors }
limits: { runsPerUserPerMinute: 100, runsPerUser: 100, runsPerChannel: 200, pendingApprovalsPerUser: 100 }
`;

interface Ask {
  readonly program: string;
  readonly age: number;
  readonly alarms: readonly string[];
}

const wordsOf = ({ program, age, alarms }: Ask): string => `${program} ${age} s: ${alarms.join(' | ') || 'calm'}`;

describe.skipIf(kubeconfigPath === '')('a program that has just started and is well', () => {
  let bed: Bed;
  let target: Target;
  let turn: Promise<unknown> = Promise.resolve();

  beforeAll(async () => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfigPath);
    target = new Target(kubeconfigPath);
    bed = await startPatientBed({
      kubeconfig: readFileSync(kubeconfigPath, 'utf8'),
      policy: policyFor(config.getCurrentContext()),
      transport: 'socket',
    });
  });

  afterAll(async () => {
    await bed?.stop();
    target?.close();
  });

  const textOf = (message: StoredMessage): string =>
    describeMessage(bed.slack.state, message, { times: false }).join('\n');
  const messages = () => [...bed.slack.state.channelMessages(CHANNEL).values()];

  /** On a busy machine, kdebug refuses a request so, and asks to try again: a person does. */
  async function cardOf(words: string, left = 2): Promise<StoredMessage> {
    const before = new Set(messages().map(({ ts }) => ts));
    const refusalsBefore = bed.slack.ephemerals(USER).length;
    await bed.slack.deliver.command({ user: USER, channel: CHANNEL, text: words });
    const isCard = ({ ts, threadTs }: StoredMessage) => !before.has(ts) && threadTs === undefined;
    const refusal = () => bed.slack.ephemerals(USER)[refusalsBefore];
    const found = await bed.slack.until(() => messages().find(isCard) ?? refusal());
    if (found !== refusal()) return found;
    const text = textOf(found);
    if (left === 0 || !TRY_AGAIN.test(text)) throw new Error(text);
    return cardOf(words, left - 1);
  }

  /** One question at a time: people’s cards are told apart by their time. */
  function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  }

  /** Alarms of the card, in each of its states, and of its thread. */
  async function askAbout(words: string): Promise<readonly string[]> {
    const { ts } = await inTurn(() => cardOf(words));
    const seen = new Set<string>();
    const ended = () => {
      const found = messages().filter((each) => each.ts === ts || each.threadTs === ts);
      for (const text of found.map(textOf)) for (const line of alarmsIn(text)) seen.add(line.trim());
      return found.length > 1 && !found.some((each) => each.ts === ts && GOES_ON.test(textOf(each)));
    };
    await bed.slack.until(ended);
    return [...seen];
  }

  async function asksOf(program: string): Promise<readonly Ask[]> {
    const stage = new HealthyStage(target, program);
    try {
      await stage.play();
      const asks: Ask[] = [];
      for (const [turn, age] of ages.entries()) {
        await stage.untilAge(age);
        // Each a little different: who asks the same again at once gets the last answer.
        const alarms = await askAbout(`${podNameOf(program)} -n ${stage.namespace} --timeout=${50 + turn}s`);
        asks.push({ program, age, alarms });
      }
      if (wanted !== undefined) console.log(asks.map(wordsOf).join('\n'));
      return asks;
    } finally {
      await stage.remove();
    }
  }

  it('is never an alarm, whenever somebody asks about it', async () => {
    expect(programs).not.toEqual([]);
    const left = [...programs];
    const asks: Ask[] = [];
    const broken: string[] = [];
    const worker = async () => {
      for (let program = left.shift(); program !== undefined; program = left.shift())
        asks.push(
          ...(await asksOf(program).catch((error) => {
            broken.push(`${program}: ${String(error).slice(0, 300)}`);
            return [];
          })),
        );
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const alarms = asks.filter((ask) => ask.alarms.length > 0).map(wordsOf);
    console.log([`programs ${programs.length}, asks ${asks.length}, alarms ${alarms.length}`, ...broken].join('\n'));
    expect(broken).toEqual([]);
    expect(alarms).toEqual([]);
  });
});
