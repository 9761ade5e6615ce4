import { setTimeout as pause } from 'node:timers/promises';
import { at, type Json, objectAt, parse } from './json.ts';
import { type Names, normaliseJson, normaliseText } from './normalise.ts';
import type { Answer, ApiStep, FinishStep, KubectlStep, Pod, Scenario, StartStep, Step, WaitStep } from './scenario.ts';
import { podState } from './states.ts';
import type { Running, Said, Target } from './target.ts';

const PERIOD_MS = 100;

/** Whose cluster it is, and how long to wait for anything. */
export interface Surroundings {
  readonly target: Target;
  readonly names: Names;
  readonly patienceMs: number;
}

/** Of a scenario that did not come to its end: what never came. */
export const UNFINISHED = 'unfinished';

/** Plays one scenario in a namespace of its own, which is gone afterwards. Never throws: see `UNFINISHED`. */
export async function runScenario(scenario: Scenario, surroundings: Surroundings): Promise<Record<string, Answer>> {
  const run = new Run(`recorded-${scenario.name}`, surroundings);
  try {
    await run.prepare(scenario);
    for (const step of scenario.steps) await run.step(step);
  } catch (thrown) {
    run.answers[UNFINISHED] = { why: String(thrown) };
  } finally {
    await run.close();
  }
  return run.answers;
}

class Run {
  readonly answers: Record<string, Answer> = {};
  readonly #target: Target;
  readonly #namespace: string;
  readonly #names: Names;
  readonly #patienceMs: number;
  readonly #running = new Map<string, Running>();

  constructor(namespace: string, { target, names, patienceMs }: Surroundings) {
    this.#target = target;
    this.#namespace = namespace;
    this.#names = names;
    this.#patienceMs = patienceMs;
  }

  async prepare({ labels = {}, pods = [] }: Scenario): Promise<void> {
    const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace, labels } };
    await this.#expect('POST', '/api/v1/namespaces', made);
    for (const pod of pods) await this.#expect('POST', this.#path('pods'), pod);
  }

  async close(): Promise<void> {
    for (const each of this.#running.values()) await each.stop();
    await this.#target.api('DELETE', `/api/v1/namespaces/${this.#namespace}`);
  }

  async step(step: Step): Promise<void> {
    if (step.kind === 'wait') await this.#wait(step);
    else if (step.kind === 'start') await this.#start(step);
    else this.#keep(step.name, await this.#answer(step));
  }

  #answer(step: KubectlStep | ApiStep | FinishStep): Promise<Answer> {
    if (step.kind === 'kubectl') return this.#kubectl(step);
    return step.kind === 'api' ? this.#api(step) : this.#finish(step);
  }

  #keep(name: string, answer: Answer): void {
    if (this.answers[name]) throw new Error(`two steps are called "${name}"`);
    this.answers[name] = answer;
  }

  async #kubectl({ words, view, until, stdin, name }: KubectlStep): Promise<Answer> {
    let said = await this.#say(words, stdin);
    const isSo = () => until === undefined || until.test(said.out + said.err);
    await this.#patient(
      `${name}: ${until}`,
      async () => {
        if (!isSo()) said = await this.#say(words, stdin);
        return isSo();
      },
      () => said.out + said.err,
    );
    return this.#viewed(said, view);
  }

  #say(words: readonly string[], stdin?: string): Promise<Said> {
    return this.#target.kubectl(['-n', this.#namespace, ...words], stdin);
  }

  #viewed({ code, out, err }: Said, view: KubectlStep['view']): Answer {
    const told = { code, ...this.#lines('err', err) };
    if (view === 'json') return { ...told, json: normaliseJson(parse(out), this.#names) };
    if (view === 'events') return { ...told, events: eventLines(normaliseJson(parse(out), this.#names)) };
    const lines = this.#lines('out', out);
    return { ...told, ...(view === 'text' ? lines : { out: arranged(lines.out ?? [], view) }) };
  }

  #lines(key: string, text: string): Record<string, readonly string[]> {
    return text === '' ? {} : { [key]: normaliseText(text, this.#names).replace(/\n$/, '').split('\n') };
  }

  async #api({ method, path, type, about, body }: ApiStep): Promise<Answer> {
    const pod = about === undefined ? {} : await this.#pod(about);
    const made = body?.(pod);
    const text = made === undefined ? undefined : typeof made === 'string' ? made : JSON.stringify(made);
    const reply = await this.#target.api(method, path.replace('{ns}', this.#namespace), text, type);
    const warnings = reply.warnings.length === 0 ? {} : { warnings: reply.warnings };
    const isChanged = about !== undefined && reply.status === 200 ? { isChanged: isNewer(reply.text, pod) } : {};
    return { status: reply.status, ...warnings, ...isChanged, body: this.#body(reply.text) };
  }

  #body(text: string): Json {
    return text.startsWith('{') ? normaliseJson(parse(text), this.#names) : normaliseText(text, this.#names);
  }

  async #pod(name: string): Promise<Pod> {
    const { text } = await this.#target.api('GET', this.#path(`pods/${name}`));
    return objectAt(parse(text));
  }

  async #wait({ pod, until, isSo }: WaitStep): Promise<void> {
    const path = this.#path(`pods?watch=true&fieldSelector=metadata.name=${pod}`);
    const patience = AbortSignal.timeout(this.#patienceMs);
    let last = '';
    // A watch may end at any time, and is then begun again.
    while (!patience.aborted) {
      for await (const line of this.#target.lines(path, patience)) {
        last = line;
        if (isSo(objectAt(parse(line), 'object'))) return;
      }
    }
    throw new Error(`${this.#namespace}/${pod}: never ${until}; last ${last}`);
  }

  async #start({ name, words, watchPod, begun }: StartStep): Promise<void> {
    const running = words ? this.#target.start(['-n', this.#namespace, ...words]) : this.#watch(watchPod ?? '');
    this.#running.set(name, running);
    await this.#patient(
      `${name}: ${begun}`,
      async () => begun === undefined || begun.test(running.text()),
      running.text,
    );
  }

  /** A watch by the API, told as one line a state. */
  #watch(pod: string): Running {
    let told = '';
    let isOver = false;
    const path = this.#path(`pods?watch=true&fieldSelector=metadata.name=${pod}`);
    const stop = new AbortController();
    const reading = (async () => {
      for await (const line of this.#target.lines(path, stop.signal)) {
        const event = parse(line);
        told += `${at(event, 'type') === 'DELETED' ? 'deleted: ' : ''}${podState(at(event, 'object'))}\n`;
      }
      isOver = true;
    })();
    return {
      text: () => told,
      isOver: () => isOver,
      stop: async () => {
        stop.abort();
        await reading;
        return { code: 0, out: told, err: '' };
      },
    };
  }

  async #finish({ name, when }: FinishStep): Promise<Answer> {
    const running = this.#running.get(name);
    if (!running) throw new Error(`nothing called "${name}" was started`);
    await this.#patient(`${name}: ${when}`, async () => when.test(running.text()) || running.isOver(), running.text);
    this.#running.delete(name);
    const { out, err } = await running.stop();
    const all = this.#lines('out', out).out ?? [];
    const last = all.findIndex((line) => when.test(line));
    const lines = last < 0 ? all : all.slice(0, last + 1);
    return { out: lines.filter((line, index) => line !== lines[index - 1]), ...this.#lines('err', err) };
  }

  async #patient(what: string, isSo: () => Promise<boolean>, last: () => string): Promise<void> {
    const end = Date.now() + this.#patienceMs;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`never came: ${what}\n${last()}`);
      await pause(PERIOD_MS);
    }
  }

  #path(rest: string): string {
    return `/api/v1/namespaces/${this.#namespace}/${rest}`;
  }

  /** Makes something of the setup. A new namespace has its service account a moment later. */
  async #expect(method: string, path: string, object: object): Promise<void> {
    let text = '';
    await this.#patient(
      `${method} ${path}`,
      async () => {
        const reply = await this.#target.api(method, path, JSON.stringify(object));
        text = reply.text;
        return reply.status === 201;
      },
      () => text,
    );
  }
}

/** Lines whose order is a matter of chance, sorted: all of them, or those of the events at the end of a description. */
function arranged(lines: readonly string[], view: 'sorted-lines' | 'description'): readonly string[] {
  const start = view === 'description' ? lines.findIndex((line) => line.startsWith('Events:')) + 3 : 0;
  return [...lines.slice(0, start), ...new Set(lines.slice(start).sort())];
}

const versionOf = (object: unknown) => at(object, 'metadata', 'resourceVersion');

/** Whether the write made a new version; the versions themselves are left out. */
const isNewer = (text: string, before: Pod): boolean => versionOf(parse(text)) !== versionOf(before);

/** The events of a pod, one line each, sorted; how often each came is a matter of time. */
function eventLines(list: Json): readonly string[] {
  const items = at(list, 'items');
  const lines = (Array.isArray(items) ? items : []).map((event) => {
    const words = [
      ['type'],
      ['reason'],
      ['reportingComponent'],
      ['source', 'component'],
      ['involvedObject', 'fieldPath'],
      ['message'],
    ];
    return words.map((path) => String(at(event, ...path) ?? '')).join(' | ');
  });
  return [...new Set(lines)].sort();
}
