import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadPolicy } from '../config/load-policy.ts';
import { matchesLabels } from '../core/alert/match.ts';
import type { Labels } from '../core/alert/notification.ts';
import { aimOfAlert } from '../core/alert/target.ts';
import type { ReasonCode } from '../core/errors.ts';
import { userOfAlerts } from '../core/ids.ts';
import { aimOf, planRequest } from '../core/planning/plan-request.ts';
import { reasonOfUnattended } from '../core/planning/unattended.ts';
import type { AlertSource, Policy } from '../core/policy/policy.ts';
import type { RunRequest } from '../core/request/command.ts';
import { requestOfAlert } from '../core/say/alert-request.ts';
import { isObject, own } from '../lib/object.ts';
import { imaginedPod, sentenceOf } from './explain.ts';

const USAGE = `usage: explain --alert FILE --source NAME --policy FILE
  FILE is a notification as Alertmanager or Grafana sends it, or the labels of one alert, as JSON; NAME is a key under alerts: of the policy`;

/**
 * Explains what a policy file makes of alerts, without Slack or a cluster, for imagined pods: for each alert, what is looked at, or why nothing is.
 * Ages and limits are not looked at. Returns the exit code: 0 each is looked at; 1 one is not; 2 wrong arguments, file or policy.
 */
export function explainAlert(words: readonly string[], out: (line: string) => void): number {
  const given = readWords(words);
  if (!given) return wrong(USAGE, out);
  const loaded = loadPolicy(given.policy);
  if (loaded.kind === 'invalid') {
    for (const problem of loaded.problems) out(problem);
    return 2;
  }
  const { policy } = loaded;
  const source = own(policy.alerts ?? {}, given.source);
  if (!source)
    return wrong(
      `alerts: has no source ${given.source}; it has: ${Object.keys(policy.alerts ?? {}).join(', ') || 'none'}`,
      out,
    );
  const all = labelsIn(given.alert);
  if (!all) return wrong(`${given.alert} is no notification of alerts, and no JSON object of labels`, out);
  return Math.max(...all.map((labels) => explainOne(labels, { source, policy }, out)));
}

function wrong(words: string, out: (line: string) => void): number {
  out(words);
  return 2;
}

function readWords(words: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const { alert, source, policy } = parseArgs({
      args: [...words],
      options: { alert: text, source: text, policy: text },
    }).values;
    return alert && source && policy ? { alert, source, policy } : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined: the file cannot be read, or has neither shape. */
function labelsIn(path: string): readonly Labels[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
  const alerts = isObject(json) && Array.isArray(json.alerts) ? json.alerts.map((one) => one?.labels) : [json];
  const isLabels = (one: unknown): one is Labels =>
    isObject(one) && Object.values(one).every((value) => typeof value === 'string');
  return alerts.length > 0 && alerts.every(isLabels) ? alerts : undefined;
}

function explainOne(
  labels: Labels,
  { source, policy }: { readonly source: AlertSource; readonly policy: Policy },
  out: (line: string) => void,
): number {
  const say = (result: string): void => out(`${labels.alertname ?? 'alert'}: ${result}`);
  const refuse = (code: ReasonCode, subject = ''): number => {
    say(`a card in ${source.channel}, and no look (${code}): ${sentenceOf(code, subject)}`);
    return 1;
  };
  if (!matchesLabels(labels, source)) {
    say('nothing: `match` of the source does not name it');
    return 1;
  }
  const aimed = aimOfAlert(labels, source);
  if (aimed.kind === 'none') return refuse(aimed.code, aimed.subject);
  const request = requestOfAlert(aimed.target, source.image);
  if (!request) return refuse('alert_names_no_pod');
  const decided = decisionOn(request, source, policy);
  if ('code' in decided) return refuse(decided.code, decided.subject);
  say(
    `a card in ${source.channel}, and a look at ${aimed.target.namespace}/${aimed.target.name} of cluster ${decided.cluster} by rule ${decided.rule}`,
  );
  return 0;
}

type Decided =
  | { readonly code: ReasonCode; readonly subject: string }
  | { readonly rule: string; readonly cluster: string };

function decisionOn(request: RunRequest, source: AlertSource, policy: Policy): Decided {
  const origin = { channelId: source.channel, requesterId: userOfAlerts(source.name), teamId: '' };
  const aim = aimOf(request, origin, policy);
  if (aim.kind === 'deny') return aim;
  const planned = planRequest(imaginedPod(request, aim.namespace), {
    request,
    origin,
    policy,
    aim,
    level: 'privileged',
  });
  if (planned.kind === 'deny') return planned;
  const { decision } = planned;
  if (decision.kind === 'deny') return decision;
  const code = reasonOfUnattended(planned, source);
  return code ? { code, subject: '' } : { rule: decision.rule, cluster: aim.cluster };
}
