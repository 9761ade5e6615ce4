import { type AlertsPort, alertNotification, alertPost, notify, postAlert } from '../../app/alert.ts';
import type { LocalSlack } from '../../slack/index.ts';

export interface Place {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

const CHANNEL = 'C0SHOP';

/** Alerts about pods, as Alertmanager tells of them in both ways of docs/alerts.md. */
export class PageAlerts {
  readonly #slack: LocalSlack;
  readonly #port: AlertsPort | undefined;
  #firing: (Place & { readonly startsAt: string }) | undefined;

  constructor(slack: LocalSlack, port: AlertsPort | undefined) {
    this.#slack = slack;
    this.#port = port;
  }

  /** Writes one to the channel, with a button, as kube-prometheus' rule says it. */
  async post(at: Place): Promise<void> {
    const title = `[FIRING:1] KubePodCrashLooping ${at.namespace} ${at.pod}`;
    const post = alertPost(CHANNEL, `/${at.namespace}/${at.pod}`, { title, text: summaryOf(at), fallback: title });
    await postAlert(this.#slack, post).catch(() => undefined);
  }

  /** Tells kdebug that one fires; the next time, that it is over, wherever that is. @throws Error a sentence: it was not accepted */
  async notify(at: Place): Promise<void> {
    const before = this.#firing;
    const alert = before ?? { ...at, startsAt: new Date().toISOString() };
    const status = before ? 'resolved' : 'firing';
    await this.#send(alertNotification({ ...alert, status, summary: summaryOf(alert) }));
    this.#firing = before ? undefined : alert;
  }

  async #send(body: object): Promise<void> {
    if (!this.#port) throw new Error('Here nothing listens for alerts.');
    const status = await notify(this.#port, body);
    if (status !== 200) throw new Error(`kdebug did not take the alert: it answered ${status}.`);
  }
}

const summaryOf = ({ namespace, pod, container }: Place): string =>
  `Pod ${namespace}/${pod} (${container}) is in waiting state (reason: "CrashLoopBackOff").`;
