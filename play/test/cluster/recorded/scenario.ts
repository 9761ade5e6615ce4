import type { Json, JsonObject } from './json.ts';

/** A pod as JSON of the API, looked at field by field. */
export type Pod = JsonObject;

/** What is done to a cluster, and asked of it, in a namespace of its own. The same for a real cluster and the local one. */
export interface Scenario {
  /** The namespace is `recorded-` and this. */
  readonly name: string;
  /** Of the namespace. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Made before the first step; the runner waits for none of them. */
  readonly pods?: readonly JsonObject[];
  readonly steps: readonly Step[];
}

/** One step. Those with a `name` leave an answer in the recording. */
export type Step = KubectlStep | ApiStep | WaitStep | StartStep | FinishStep;

/** A kubectl command, in the scenario's namespace. */
export interface KubectlStep {
  readonly kind: 'kubectl';
  readonly name: string;
  readonly words: readonly string[];
  readonly view: View;
  /** Asked again until the answer is so: for what the kubelet tells a moment later (events, logs). */
  readonly until?: RegExp;
  readonly stdin?: string;
}

/** How an answer is kept: whole; its lines sorted; the lines of its events sorted; as JSON; as one line an event, sorted. */
export type View = 'text' | 'sorted-lines' | 'description' | 'json' | 'events';

/** One request to the API. `{name}` in the path is the namespace's; `body` gets the pod called `about` as it is now. */
export interface ApiStep {
  readonly kind: 'api';
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly about?: string;
  readonly body?: (pod: Pod) => Json | string;
}

/** Waits on a watch until the pod is so; leaves no answer. */
export interface WaitStep {
  readonly kind: 'wait';
  readonly pod: string;
  /** Said when it never comes. */
  readonly until: string;
  readonly isSo: (pod: Pod) => boolean;
}

/** Begins a kubectl command, or a watch of one pod by the API, that goes on during the next steps. */
export interface StartStep {
  readonly kind: 'start';
  readonly name: string;
  readonly words?: readonly string[];
  readonly watchPod?: string;
  /** The next step waits for this in what it says; absent: for nothing. */
  readonly begun?: RegExp;
}

/** Ends it once it has said this; what it said is the answer, equal neighbours once. */
export interface FinishStep {
  readonly kind: 'finish';
  readonly name: string;
  readonly when: RegExp;
}

/** One answer, normalised, ready for the recording. */
export type Answer = { readonly [key: string]: Json };
