import { BACKOFFICE_PODS, type LocalCluster, SHOP_PODS } from '../../cluster/index.ts';
import type { LocalSlack } from '../../slack/index.ts';
import type { Deed, PageChange, Trouble } from '../contract.ts';
import type { PageAlerts, Place } from './page-alerts.ts';

/** A pod that was deleted comes back after this long. */
const RETURN_MS = 4_000;
const SLOW_MS = 2_000;
const MISSING_IMAGE = 'registry.example.com/shop/no-such-image:9';

interface Parts {
  readonly slack: LocalSlack;
  /** Absent: a real cluster, which is left alone. */
  readonly cluster: LocalCluster | undefined;
  readonly alerts: PageAlerts;
  readonly tell: (change: PageChange) => void;
}

type Kind = Trouble & { readonly make: (troubles: Maker, place: Place) => void | Promise<void> };

/** What the troubles of the table act through. */
interface Maker {
  readonly slack: LocalSlack;
  readonly alerts: PageAlerts;
  cluster(): LocalCluster;
  /** Whether the trouble is on after this: it was off. */
  toggle(id: string): boolean;
  /** A pod of the shop that is gone comes back under its name. */
  returnLater(place: Place): void;
}

const once = { needsPod: true, lasts: false };

const KINDS: readonly Kind[] = [
  {
    id: 'kill',
    where: 'cluster',
    title: 'Kill the container',
    watch:
      'The container ends with 137 and starts again; a run that looked at it is told as “the target ended”, not as a failure of the diagnosis.',
    ...once,
    make: (maker, at) => maker.cluster().killContainer(at.namespace, at.pod, at.container),
  },
  {
    id: 'delete',
    where: 'cluster',
    title: 'Delete the pod',
    watch: 'A run in it ends as “the pod is gone”. A pod of the shop comes back under its name after a few seconds.',
    ...once,
    make: (maker, at) => {
      maker.cluster().deletePod(at.namespace, at.pod);
      maker.returnLater(at);
    },
  },
  {
    id: 'oom',
    where: 'cluster',
    title: 'Kill it for memory',
    watch:
      'The kernel ends the container: OOMKilled, restarts go up by one, and a run in it says that the target ended.',
    ...once,
    make: (maker, at) => maker.cluster().oomKill(at.namespace, at.pod, at.container),
  },
  {
    id: 'wrong-image',
    where: 'cluster',
    title: 'Roll out a wrong image',
    watch:
      'The pod is replaced by one that stays in ImagePullBackOff: a run in the old one ends with it. “Delete the pod” brings the good one back.',
    ...once,
    make: (maker, at) => replaceByBroken(maker.cluster(), at),
  },
  {
    id: 'alert',
    where: 'cluster',
    title: 'An alert fires',
    watch:
      'Alertmanager writes it to #shop-oncall with kdebug’s token. Press Diagnose: kdebug answers in the thread of the alert, as if you had typed the pod’s name there.',
    ...once,
    make: ({ alerts }, at) => alerts.post(at),
  },
  {
    id: 'alert-by-itself',
    where: 'cluster',
    title: 'An alert looks by itself',
    watch:
      'Alertmanager tells kdebug, and nobody presses anything: kdebug writes the alert to #shop-oncall, looks, and puts what it found on that card and in its thread. “The alert resolves”, in this menu, ends it: the card and the thread say after how long.',
    needsPod: true,
    lasts: true,
    end: 'The alert resolves',
    make: async (maker, at) => {
      await maker.alerts.notify(at);
      maker.toggle('alert-by-itself');
    },
  },
  {
    id: 'node-away',
    where: 'cluster',
    title: 'Node away',
    watch:
      'A question is answered at once: the node no longer answers. A command that starts now is accepted, then nothing: it goes on as soon as the node is back, or after half a minute the bot says that the node gave no answer.',
    needsPod: false,
    lasts: true,
    make: (maker) => (maker.toggle('node-away') ? maker.cluster().nodeDown() : maker.cluster().nodeUp()),
  },
  {
    id: 'api-slow',
    where: 'cluster',
    title: 'Kubernetes API slow',
    watch: 'Each answer of the cluster takes two seconds more; Slack is still answered within its three.',
    needsPod: false,
    lasts: true,
    make: (maker) => {
      if (maker.toggle('api-slow')) maker.cluster().faults.queue(SLOW);
      else maker.cluster().faults.remove(SLOW);
    },
  },
  {
    id: 'slack-429',
    where: 'slack',
    title: 'Rate limit (429)',
    watch:
      'The next two posts and two updates are refused for two seconds each: the answer comes later, whole and once.',
    needsPod: false,
    lasts: false,
    make: ({ slack }) => {
      for (const method of POSTING) slack.faults.queue({ method, kind: 'ratelimited', retryAfterSeconds: 2, times: 2 });
    },
  },
  {
    id: 'slack-5xx',
    where: 'slack',
    title: 'Slack fails (503)',
    watch: 'The next two posts and two updates fail: each is tried again, and nothing is lost or said twice.',
    needsPod: false,
    lasts: false,
    make: ({ slack }) => {
      for (const method of POSTING) slack.faults.queue({ method, kind: 'http_503', times: 2 });
    },
  },
  {
    id: 'slack-drop',
    where: 'slack',
    title: 'Drop after commit',
    watch:
      'The next post is made but its answer never arrives: the bot looks for it in the channel’s history and does not post again.',
    needsPod: false,
    lasts: false,
    make: ({ slack }) => slack.faults.queue({ method: 'chat.postMessage', kind: 'reset_after_commit' }),
  },
];

const POSTING = ['chat.postMessage', 'chat.update'];
const SLOW = { kind: 'delay', ms: SLOW_MS, times: Number.POSITIVE_INFINITY } as const;

/** The two menus of the page: what goes wrong when somebody wants to see it go wrong. */
export class Troubles {
  readonly #parts: Parts;
  readonly #on = new Set<string>();
  readonly #undo = new Set<() => void>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Those that can be made here. */
  list(): readonly Trouble[] {
    const here = KINDS.filter(({ where }) => where === 'slack' || this.#parts.cluster !== undefined);
    return here.map(({ make: _make, ...trouble }) => trouble);
  }

  on(): readonly string[] {
    return [...this.#on];
  }

  /** @throws Error a sentence: no such trouble, no such pod, a container that does not run */
  async make(deed: Omit<Extract<Deed, { kind: 'trouble' }>, 'kind'>): Promise<void> {
    const kind = KINDS.find(({ id }) => id === deed.id);
    if (kind === undefined) throw new Error('There is no such trouble.');
    const isChosen = kind.needsPod && !this.#on.has(kind.id);
    await kind.make(this.#maker(), isChosen ? this.#placeOf(deed) : { namespace: '', pod: '', container: '' });
  }

  close(): void {
    for (const undo of this.#undo) undo();
  }

  #maker(): Maker {
    return {
      slack: this.#parts.slack,
      alerts: this.#parts.alerts,
      cluster: () => this.#cluster(),
      toggle: (id) => this.#toggle(id),
      returnLater: (place) => this.#returnLater(place),
    };
  }

  #cluster(): LocalCluster {
    if (this.#parts.cluster === undefined) throw new Error('This is a real cluster: it is left alone.');
    return this.#parts.cluster;
  }

  #placeOf({ namespace = '', pod = '', container }: { namespace?: string; pod?: string; container?: string }): Place {
    const found = this.#cluster().pod(namespace, pod);
    if (found === undefined) throw new Error('Choose a pod first.');
    return { namespace, pod, container: container ?? found.spec.containers[0]?.name ?? '' };
  }

  #toggle(id: string): boolean {
    const isOn = !this.#on.delete(id);
    if (isOn) this.#on.add(id);
    this.#parts.tell({ kind: 'troubles-on', on: this.on() });
    return isOn;
  }

  #returnLater({ namespace, pod }: Place): void {
    const again = [...SHOP_PODS, ...BACKOFFICE_PODS].find((one) => one.name === pod && one.namespace === namespace);
    if (again === undefined) return;
    const cluster = this.#cluster();
    const stop = cluster.watchPods(({ type, pod: { metadata } }) => {
      if (type !== 'DELETED' || metadata.name !== pod || metadata.namespace !== namespace) return;
      stop();
      this.#undo.delete(stop);
      const timer = setTimeout(() => {
        if (cluster.pod(namespace, pod) === undefined) cluster.addPod(again);
      }, RETURN_MS);
      this.#undo.add(() => clearTimeout(timer));
    });
    this.#undo.add(stop);
  }
}

function replaceByBroken(cluster: LocalCluster, { namespace, pod, container }: Place): void {
  const old = cluster.pod(namespace, pod);
  const labels = old?.metadata.labels ?? {};
  cluster.replacePod({ namespace, name: pod, labels, containers: [{ name: container, image: MISSING_IMAGE }] });
}
