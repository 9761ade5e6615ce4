interface SlackPort {
  readonly apiUrl: string;
  readonly botToken: string;
}

/** The button of docs/alerts.md, and what Alertmanager 0.34.2 sends with it: its own post, captured. */
export const alertPost = (channel: string, value: string, more: object = {}): object => ({
  channel,
  username: 'Alertmanager',
  attachments: [
    {
      title: '[FIRING:1]  (KubePodCrashLooping shop web-1)',
      title_link: 'http://alerts.example/#/alerts?receiver=slack',
      text: '',
      fallback: '[FIRING:1]  (KubePodCrashLooping shop web-1) | http://alerts.example/#/alerts?receiver=slack',
      callback_id: 'kdebug-alert',
      actions: [
        { type: 'button', text: 'Diagnose', name: 'look', value },
        { type: 'button', text: 'Runbook', url: 'https://runbooks.example/crash' },
      ],
      footer: '',
      color: 'danger',
      mrkdwn_in: ['fallback', 'pretext', 'text'],
      ...more,
    },
  ],
});

/** Posts it to the local Slack as Alertmanager does, with kdebug's token; resolves with the message's `ts`. */
export async function postAlert({ apiUrl, botToken }: SlackPort, post: object): Promise<string> {
  const response = await fetch(`${apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${botToken}` },
    body: JSON.stringify(post),
  });
  const answer: unknown = await response.json();
  if (typeof answer !== 'object' || answer === null || !('ts' in answer) || typeof answer.ts !== 'string')
    throw new Error(`Slack refused the alert: ${JSON.stringify(answer)}`);
  return answer.ts;
}

export interface NotifiedAlert {
  readonly namespace: string;
  readonly pod: string;
  readonly status: 'firing' | 'resolved';
  /** The same for every notification of one alert. */
  readonly startsAt: string;
  readonly severity?: string;
  readonly summary?: string;
}

/** The webhook's body as Alertmanager 0.34.2 writes it, of a group with one alert. */
export function alertNotification(alert: NotifiedAlert): object {
  const { namespace, pod, status, startsAt, severity = 'critical', summary = 'It restarts.' } = alert;
  const labels = { alertname: 'KubePodCrashLooping', namespace, pod, severity };
  const endsAt = status === 'firing' ? '0001-01-01T00:00:00Z' : new Date().toISOString();
  const annotations = { summary, runbook_url: 'https://runbooks.example/crash' };
  const fingerprint = `${namespace}/${pod}/${severity}`;
  return {
    ...{ version: '4', receiver: 'kdebug', status, groupKey: `{}:{pod="${fingerprint}"}`, truncatedAlerts: 0 },
    ...{ groupLabels: { pod }, commonLabels: labels, commonAnnotations: annotations },
    externalURL: 'http://alertmanager.example',
    alerts: [{ status, labels, annotations, startsAt, endsAt, generatorURL: '', fingerprint }],
  };
}

/** Where a source of alerts of a bed posts to, and its secret. */
export interface AlertsPort {
  readonly url: string;
  readonly secret: string;
}

/** Posts it to kdebug as Alertmanager does; resolves with the answer's status. */
export async function notify({ url, secret }: AlertsPort, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
}
