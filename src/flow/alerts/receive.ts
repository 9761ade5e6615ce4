import { type AlertCard, alertKey, freshAlerts, newAlertCard, updatedCard } from '../../core/alert/card.ts';
import type { AlertNotification } from '../../core/alert/notification.ts';
import type { AlertTarget } from '../../core/alert/target.ts';
import { KdebugError, type ReasonCode } from '../../core/errors.ts';
import { sha256 } from '../../core/hash.ts';
import { type RunId, userOfAlerts } from '../../core/ids.ts';
import type { AlertSource } from '../../core/policy/policy.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Run } from '../../core/run/run.ts';
import { requestOfAlert } from '../../core/say/alert-request.ts';
import { defined, own } from '../../lib/object.ts';
import { Trouble } from '../../lib/trouble.ts';
import { createRun, type Starter } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunByKey } from '../context/find-run.ts';
import type { RunChanger } from '../context/held-run.ts';
import { channelProblem } from '../planning/channel-check.ts';
import type { AlertReceiver, Received } from '../ports/alerts.ts';
import type { CreateResult, Quota } from '../ports/store.ts';
import { type CardRun, isCardRun, openCard } from '../run/open-card.ts';
import { NO_REQUEST, runOfSource, type SourceRun } from '../run/unattended.ts';
import { type Judged, judge, openCardsOf, paceOf, quotasOfLook, wantedOf } from './looks.ts';

interface Notified {
  readonly source: AlertSource;
  /** The alerts that the policy wants to know of. */
  readonly notification: AlertNotification;
  readonly cardKey: string;
}

const HIDDEN = {
  begins: 'alerts not shown in their channel',
  ends: 'alerts are shown in their channel again',
  level: 'error',
} as const;

interface Look {
  readonly judged: Judged & { readonly aimed: { readonly kind: 'target'; readonly target: AlertTarget } };
  readonly request: RunRequest;
}

/**
 * Starts a look for alerts that nobody had to click. One run is the card of a group of alerts and the first look; further pods of the group are
 * looked at by runs that answer in the card's thread. All that must survive is in these runs, so the store's own guarantees make one card of
 * the same notification, however often and wherever it arrives.
 */
export class Alerts implements AlertReceiver {
  readonly #deps: FlowDeps;
  readonly #starter: Starter;
  readonly #runs: RunChanger;
  /** By source: names of the policy. */
  readonly #hidden = new Map<string, Trouble>();

  constructor(deps: FlowDeps, starter: Starter, runs: RunChanger) {
    this.#deps = deps;
    this.#starter = starter;
    this.#runs = runs;
  }

  async receive(name: string, given: AlertNotification): Promise<Received> {
    const source = own(this.#deps.policies.current().alerts ?? {}, name);
    if (!source) throw new KdebugError('alert_source_unknown', { detail: name });
    const notification = wantedOf(given, source);
    if (notification.alerts.length === 0) return 'ignored';
    const refused = this.#starter.refusalFor(userOfAlerts(name));
    if (refused) throw new KdebugError(refused);
    await this.#assertShown(source);
    const { card, closed, cardKey } = await openCard(
      sha256(JSON.stringify(['alerts', name, given.groupKey])),
      this.#deps,
    );
    const notified = { source, notification, cardKey };
    if (card) return this.#update(card, notified);
    // An alert that has fired since the day before is no news.
    return freshAlerts(notification.alerts, closed).length > 0 ? this.#begin(notified) : 'ignored';
  }

  /** Nothing of an alert is stored that its channel may not show, or that nobody would see there: the source sends it again, and counts that. */
  async #assertShown({ name, channel: channelId }: AlertSource): Promise<void> {
    const trouble = this.#hidden.get(name) ?? new Trouble(this.#deps, HIDDEN);
    this.#hidden.set(name, trouble);
    const problem = await channelProblem({ channelId, requesterId: userOfAlerts(name) }, this.#deps);
    if (!problem) return trouble.worked();
    trouble.failed({ source: name, channelId, reason: problem.code });
    throw new KdebugError(problem.code as ReasonCode, { detail: channelId });
  }

  async #begin(notified: Notified): Promise<Received> {
    const { source, notification, cardKey } = notified;
    const { clock } = this.#deps;
    const judged = this.#judge(
      notification.alerts.filter(({ isFiring }) => isFiring),
      source,
    );
    const looks = looksOf(judged, source);
    const [lead, ...further] = looks.slice(0, source.perGroup);
    const { alert, aimed } = lead?.judged ?? judged[0] ?? noAlert();
    const card = newAlertCard({
      source: source.name,
      notification,
      // They are told of below: after a crash in between, the source sends them again.
      later: new Set(further.map((look) => look.judged.alert)),
      alert,
      subject: subjectOf(aimed),
      skipped: Math.max(0, looks.length - source.perGroup) + notification.truncated,
      receivedAtMs: clock.now(),
      redact: this.#deps.policies.current().output.redact,
      ...defined({ problem: lead ? undefined : problemOf(aimed) }),
    });
    const run = this.#runFor(source, {
      dedupeKey: cardKey,
      request: lead?.request ?? NO_REQUEST,
      alert: card,
    });
    const created = await this.#createCard(run, lead ? this.#quotas(lead, source, 1) : [paceOf(source.channel)]);
    if (created === 'duplicate') return this.#afterAnother(notified);
    if (further.length === 0) return 'accepted';
    // Also where the first pod is within its cooldown: the others may be of other workloads.
    await this.#change(run.id, notified, await this.#lookAt(further, notified, source.perGroup));
    return 'accepted';
  }

  /** Another replica has just made the card, of this notification or of one with other alerts. */
  async #afterAnother(notified: Notified): Promise<Received> {
    const card = await readRunByKey(notified.cardKey, this.#deps);
    return isCardRun(card) ? this.#update(card, notified) : 'repeated';
  }

  async #update(card: CardRun, notified: Notified): Promise<Received> {
    const { source, notification } = notified;
    const nowMs = this.#deps.clock.now();
    // A repeat must not wait for whichever replica holds the run.
    if (updatedCard(card.alert, notification, { skipped: 0, nowMs }) === card.alert) return 'repeated';
    const looks = looksOf(this.#judge(freshAlerts(notification.alerts, card.alert), source), source);
    const chosen = looks.slice(0, source.perGroup);
    const tooMany = await this.#lookAt(chosen, notified, 1);
    return this.#change(card.id, notified, looks.length - chosen.length + tooMany);
  }

  #judge(alerts: AlertNotification['alerts'], source: AlertSource): readonly Judged[] {
    const { clock, ownPod } = this.#deps;
    return judge(alerts, { source, nowMs: clock.now(), ownPod });
  }

  /** Starts runs that answer in the card's thread. Resolves with how many the channel's pace did not allow. */
  async #lookAt(looks: readonly Look[], { source, cardKey }: Notified, most: number): Promise<number> {
    let tooMany = 0;
    for (const look of looks) {
      const dedupeKey = sha256(`${cardKey}\n${alertKey(look.judged.alert)}`);
      const run = this.#runFor(source, { dedupeKey, threadOf: cardKey, request: look.request });
      const created = await this.#create(run, this.#quotas(look, source, most));
      if (created.kind === 'limited' && created.code !== 'alert_cooldown') tooMany += 1;
    }
    return tooMany;
  }

  async #change(id: RunId, { notification }: Notified, skipped: number): Promise<Received> {
    const nowMs = this.#deps.clock.now();
    const changed = await this.#runs.change(id, async (held) => {
      const { alert } = held.run;
      const next = alert && updatedCard(alert, notification, { skipped, nowMs });
      if (!next || next === alert) return 'repeated';
      await held.apply({ kind: 'alerted', alert: next });
      return 'accepted';
    });
    // Nothing is lost: the source sends it again, and by then this replica or the other one has the run.
    if (changed === 'elsewhere') throw new KdebugError('run_elsewhere', { detail: id });
    return changed === 'settled' ? 'ignored' : changed;
  }

  /** A card that may begin no look is shown all the same, and says why; beyond the pace of its channel it joins the others (`joinStorm`). */
  async #createCard(run: CardRun, quotas: readonly Quota[]): Promise<'created' | 'duplicate'> {
    const { channelId } = run.origin;
    const [room, pace] = [openCardsOf(channelId), paceOf(channelId)];
    const created = await this.#create(run, [room, ...quotas]);
    if (created.kind !== 'limited') return created.kind;
    const { code } = created;
    if (code === room.code) throw new KdebugError(code, { detail: channelId });
    const shown = { ...run, alert: { ...run.alert, problem: { code, subject: '' } } };
    return this.#createCard(shown, code === pace.code ? [] : [pace]);
  }

  #create(run: Run, quotas: readonly Quota[]): Promise<CreateResult> {
    return createRun(run, quotas, { deps: this.#deps, starter: this.#starter });
  }

  #quotas({ judged: { alert, aimed } }: Look, source: AlertSource, most: number): readonly Quota[] {
    return quotasOfLook({ alert, target: aimed.target }, { source, policy: this.#deps.policies.current(), most });
  }

  #runFor<Fields extends Partial<Run>>(
    { name: source, channel: channelId }: AlertSource,
    parts: Omit<SourceRun, 'source' | 'channelId'> & Fields,
  ) {
    return runOfSource({ source, channelId, ...parts }, this.#deps);
  }
}

const looksOf = (judged: readonly Judged[], { image }: AlertSource): readonly Look[] =>
  judged.flatMap(({ alert, aimed }) => {
    if (aimed.kind !== 'target') return [];
    const request = requestOfAlert(aimed.target, image);
    return request ? [{ judged: { alert, aimed }, request }] : [];
  });

const subjectOf = (aimed: Judged['aimed']): string =>
  aimed.kind === 'target' ? `${aimed.target.namespace}/${aimed.target.name}` : aimed.subject;

const problemOf = (aimed: Judged['aimed']): AlertCard['problem'] =>
  aimed.kind === 'none' ? { code: aimed.code, subject: aimed.subject } : { code: 'alert_names_no_pod', subject: '' };

function noAlert(): never {
  throw new KdebugError('internal_error', { detail: 'no alert of the group fires' });
}
