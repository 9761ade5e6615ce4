import { KdebugError } from '../../../core/errors.ts';
import type { HowFresh } from '../../../flow/ports/directory.ts';
import { Cached } from '../../../lib/cached.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CallBudget } from './call-budget.ts';

export type People = ReadonlySet<string>;

/** Asks one question of the method, within the budget. @throws KdebugError slack_busy, and what `question` throws */
export type AskSlack = <Answer>(question: () => Promise<Answer>) => Promise<Answer>;

export interface MemberListOptions {
  readonly clock: Clock;
  readonly budget: CallBudget;
  /** Reads one list, every page of it by `ask`. */
  readonly read: (id: string, ask: AskSlack) => Promise<People>;
  /** No vote depends on these lists: a question about them leaves the rest of the budget to those that decide, however fresh it must be. */
  readonly isOnlyShown?: boolean;
  /** The limit for awaiting one list, and the error after it. The load goes on, so that who asks again may find its answer. */
  readonly deadline: { readonly ms: number; readonly onLate: () => never };
}

const FRESH_MS = 60_000;
/** Short, so that an invitation of the bot takes effect soon. */
const CLOSED_FOR_MS = 10_000;
/** For showing, where Slack takes no more questions. */
const LAST_KNOWN_MS = 600_000;
/** A list of 10,000 people is some ten pages. */
const LOAD_MS = 10_000;
const MAX_LISTS = 500;

/**
 * The share of the budget for each purpose. Decisions have all of it, showing at most 60 %, and half of that if an
 * older list is known: so no list stays unknown because others are asked for again.
 */
const SHARE = { decide: 1, show: 0.6, showAgain: 0.3 } as const;

interface Known {
  readonly people: People;
  readonly atMs: number;
}

/**
 * Lists of people that Slack counts the questions for. Concurrent callers of one list share its load, but a decision waits for no load that is
 * only for showing: that one may find no room where the decision has some.
 */
export class MemberLists {
  readonly #options: MemberListOptions;
  readonly #lists: Cached<People | KdebugError>;
  readonly #known = new Map<string, Known>();
  /** The newest load of each list. An older one, or one from before the list changed, is not remembered. */
  readonly #underWay = new Map<string, { readonly share: number }>();

  constructor(options: MemberListOptions) {
    this.#options = options;
    const { clock, deadline } = options;
    const freshMs = (list: People | KdebugError) =>
      list instanceof KdebugError && list.code === 'slack_channel_closed' ? CLOSED_FOR_MS : FRESH_MS;
    this.#lists = new Cached({ clock, freshMs, maxEntries: MAX_LISTS, deadline, loadMs: LOAD_MS });
  }

  /**
   * Never older than `howFresh` allows. For showing, a list that Slack takes no question for, or does not tell in time, may be 10 minutes old.
   * @throws KdebugError slack_busy; what `read` and `deadline.onLate` throw
   */
  async get(id: string, howFresh?: HowFresh): Promise<People> {
    const sinceMs = typeof howFresh === 'number' ? howFresh : undefined;
    const known = howFresh === 'shown' ? this.#lastKnown(id) : undefined;
    const share = this.#shareOf(howFresh, known !== undefined);
    const underWay = this.#underWay.get(id);
    if (underWay && share === SHARE.decide && underWay.share < share) this.#lists.forget(id);
    try {
      const list = await this.#lists.get(id, () => this.#load(id, share), sinceMs);
      if (list instanceof KdebugError) throw list;
      return list;
    } catch (thrown) {
      if (known && isForNow(thrown)) return known;
      throw thrown;
    }
  }

  #shareOf(howFresh: HowFresh | undefined, isKnown: boolean): number {
    if (howFresh !== 'shown' && this.#options.isOnlyShown !== true) return SHARE.decide;
    return isKnown ? SHARE.showAgain : SHARE.show;
  }

  /** The list has changed: the next question is asked afresh. */
  forget(id: string): void {
    this.#lists.forget(id);
    this.#known.delete(id);
    this.#underWay.delete(id);
  }

  /** Keeps a final answer, too: else whoever asks again and again uses up the questions that votes need. */
  async #load(id: string, share: number): Promise<People | KdebugError> {
    const mine = { share };
    this.#underWay.set(id, mine);
    const isNewest = (): boolean => this.#underWay.get(id) === mine;
    const atMs = this.#options.clock.elapsed();
    try {
      const people = await this.#read(id, share);
      if (isNewest()) this.#remember(id, { people, atMs });
      return people;
    } catch (thrown) {
      if (!isFinal(thrown)) throw thrown;
      this.#known.delete(id);
      return thrown;
    } finally {
      if (isNewest()) this.#underWay.delete(id);
    }
  }

  /**
   * For showing, one list after another from its second page on: side by side, large lists would use up the minute with none of them read to
   * its end, in every minute again.
   */
  async #read(id: string, share: number): Promise<People> {
    const { budget, read } = this.#options;
    let pages = 0;
    let end: (() => void) | undefined;
    try {
      return await read(id, async (question) => {
        pages += 1;
        if (pages === 2 && share < SHARE.decide) end = await budget.turn();
        return budget.ask(share, question);
      });
    } finally {
      end?.();
    }
  }

  #remember(id: string, known: Known): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_LISTS && oldest !== undefined) this.#known.delete(oldest);
  }

  #lastKnown(id: string): People | undefined {
    const found = this.#known.get(id);
    if (!found) return undefined;
    const ageMs = this.#options.clock.elapsed() - found.atMs;
    return ageMs < LAST_KNOWN_MS ? found.people : undefined;
  }
}

export const TOO_MANY = 'too_many_members';

/** A channel that is closed or has too many people; a group that does not exist. */
const isFinal = (thrown: unknown): thrown is KdebugError =>
  thrown instanceof KdebugError && (FINAL.has(thrown.code) || thrown.facts.error === TOO_MANY);
const FINAL: ReadonlySet<string> = new Set(['slack_channel_closed', 'usergroup_unknown']);

/** No room for the question, or no answer in time. */
const isForNow = (thrown: unknown): boolean =>
  thrown instanceof KdebugError && (thrown.code === 'slack_busy' || thrown.facts.kind === 'slow');
