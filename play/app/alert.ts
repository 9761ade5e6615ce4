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
