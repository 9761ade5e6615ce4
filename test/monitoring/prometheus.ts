import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from '../adapters/store/redis/redis-server.ts';
import { tool } from '../contract/rendered.ts';
import { runTool } from './tools.ts';

/** What `/metrics` answered, and when Prometheus shall believe to have asked. */
export interface Scrape {
  readonly text: string;
  readonly atSeconds: number;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly Sample[] };
}

type Sample = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };

/** A real Prometheus on loopback that scrapes nothing: it answers from samples that it is given. */
export class Prometheus {
  readonly #directory: string;
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(directory: string, process: ChildProcess, url: string) {
    this.#directory = directory;
    this.#process = process;
    this.#url = url;
  }

  /** `target`: the labels that a scrape adds to each series. */
  static async with(scrapes: readonly Scrape[], target: Readonly<Record<string, string>>): Promise<Prometheus> {
    const directory = mkdtempSync(join(tmpdir(), 'kdebug-prometheus-'));
    const samples = join(directory, 'samples');
    writeFileSync(samples, `${scrapes.flatMap((scrape) => linesOf(scrape, target)).join('\n')}\n# EOF\n`);
    runTool('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', samples, join(directory, 'data')]);
    const config = join(directory, 'prometheus.yml');
    writeFileSync(config, '{}');
    const address = `127.0.0.1:${await freePort()}`;
    const words = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=${address}`,
    ];
    const process = spawn(tool('prometheus') ?? '', words, { stdio: 'ignore' });
    const prometheus = new Prometheus(directory, process, `http://${address}`);
    await until(() =>
      fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return prometheus;
  }

  /** @throws Error with Prometheus' own words when it cannot read the query */
  async query(expr: string, atSeconds: number): Promise<readonly Sample[]> {
    const words = new URLSearchParams({ query: expr, time: String(atSeconds) });
    const answer = (await (await fetch(`${this.#url}/api/v1/query?${words}`)).json()) as Answer;
    if (answer.status !== 'success') throw new Error(`${answer.error}: ${expr}`);
    return answer.data.result;
  }

  async stop(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await gone;
    rmSync(this.#directory, { recursive: true });
  }
}

/** Samples with their time and the target's labels, without comments: as the OpenMetrics reader takes them. */
function linesOf({ text, atSeconds }: Scrape, target: Readonly<Record<string, string>>): readonly string[] {
  const added = Object.entries(target)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return `${name}{${[labels, added].filter((part) => part !== '').join(',')}} ${value} ${atSeconds}`;
    });
}
