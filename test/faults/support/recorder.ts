import type { FlowDeps } from '../../../src/flow/context/deps.ts';
import type { Cluster } from '../../../src/flow/ports/cluster.ts';
import type { Spool } from '../../../src/flow/ports/machine.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Effects, Life } from './effects.ts';

/** Puts the recorder between a replica's flow and all that is outside of it: every call of every port is an effect. */
export function recorded(deps: FlowDeps, effects: Effects, life: Life): FlowDeps {
  const { store, thread, clusters, audit, spools, directory, clock } = deps;
  return {
    ...deps,
    clock: mortalClock(clock, life),
    store: through(store, effects, life, {
      name: (method, [run]) => (method === 'save' ? `store.save:${field(run, 'state')}` : `store.${method}`),
    }),
    thread: through(thread, effects, life, {
      name: (method, args) => {
        const kind = args.map((arg) => field(arg, 'kind')).find((each) => each !== '');
        return kind === undefined || method === 'tell' ? `slack.${method}` : `slack.${method}:${kind}`;
      },
    }),
    clusters: { get: (name) => recordedCluster(clusters.get(name), effects, life) },
    audit: through(audit, effects, life, { name: (_, [entry]) => `audit.${field(entry, 'step')}` }),
    directory: through(directory, effects, life, { name: (method) => `directory.${method}` }),
    spools: {
      open: (owner) =>
        effects.through(life, 'spool.open', async () => recordedSpool(await spools.open(owner), effects, life)),
      archive: (owner) => effects.through(life, 'spool.archive', () => spools.archive(owner)),
    },
  };
}

const field = (value: unknown, name: string): string => {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : '';
};

interface Naming {
  readonly name: (method: string, args: readonly unknown[]) => string;
}

/** Whatever methods a port has or will have: each is named and counted. All answer by a promise. */
function through<Port extends object>(port: Port, effects: Effects, life: Life, { name }: Naming): Port {
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]) =>
        effects.through(life, name(String(key), args), async () => Reflect.apply(member, target, args));
    },
  });
}

/** The dead hear no alarm, and who stands still hears it later. */
function mortalClock(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after: (ms, wake) =>
      clock.after(ms, () => {
        if (life.frozen !== undefined) void life.frozen.then(wake);
        else if (!life.dead) wake();
      }),
  };
}

/** `watch` alone answers at once, and a log is written piece by piece. */
function recordedCluster(cluster: Cluster, effects: Effects, life: Life): Cluster {
  const naming: Naming = {
    name: (method, [request]) =>
      method === 'launch' && Reflect.get(Object(request), 'dryRun') === true ? 'cluster.dryRun' : `cluster.${method}`,
  };
  const watch: Cluster['watch'] = (pod, onSeen) => {
    effects.touch(life, 'cluster.watch');
    if (life.dead) return { close: () => {} };
    return cluster.watch(pod, (seen) => {
      if (life.frozen !== undefined) void life.frozen.then(() => onSeen(seen));
      else if (!life.dead) onSeen(seen);
    });
  };
  const collectLog: Cluster['collectLog'] = (request, sink) =>
    effects.through(life, 'cluster.collectLog', () =>
      cluster.collectLog(request, {
        write: (chunk) => effects.through(life, 'log.chunk', async () => sink.write(chunk)),
      }),
    );
  const others = through(cluster, effects, life, naming);
  return new Proxy(cluster, {
    get: (_, key) => {
      if (key === 'watch') return watch;
      return key === 'collectLog' ? collectLog : Reflect.get(others, key);
    },
  });
}

const recordedSpool = (spool: Spool, effects: Effects, life: Life): Spool => ({
  write: (chunk) => spool.write(chunk),
  finish: () => effects.through(life, 'spool.finish', () => spool.finish()),
  get bytes() {
    return spool.bytes;
  },
  read: () => spool.read(),
  remove: () => effects.through(life, 'spool.remove', () => spool.remove()),
});
