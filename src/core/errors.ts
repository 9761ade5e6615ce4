/** Who may read the error's own detail: `user` text may be shown in Slack, `operator` goes to the log only. */
export type Audience = 'user' | 'operator';

interface Reason {
  /** What was being done, or what is not so; continues "kdebug: …". */
  readonly title: string;
  /** What the reader can do next. */
  readonly hint: string;
  readonly audience: Audience;
}

const user = (title: string, hint: string): Reason => ({ title, hint, audience: 'user' });
const operator = (title: string, hint: string): Reason => ({ title, hint, audience: 'operator' });

/** Every reason code, once. Codes are stable: logs, metrics, audit records and `docs/errors.md` use them. */
export const REASONS = {
  // --- the command -------------------------------------------------------------------------------------------------
  command_too_long: user(
    'the command is too long',
    'Write at most 16,000 characters; put a longer script into an image.',
  ),
  quote_open: user(
    'a quote is never closed',
    'Close the quote, or write a backslash before it if it belongs to the text.',
  ),
  flag_unknown: user(
    'there is no such flag',
    'See all flags with /kdebug help flags; what the container runs goes after --.',
  ),
  flag_unsupported: user(
    'this flag of kubectl debug has no meaning here',
    'Leave it out; see all flags with /kdebug help flags.',
  ),
  flag_value_missing: user('a flag has no value', 'Write the value after the flag: --flag=value or --flag value.'),
  flag_value_unexpected: user('a switch was given a value', 'Write the switch alone, or leave it out.'),
  flag_repeated: user('a flag was given twice', 'Give it once; only --env may be repeated.'),
  flag_misplaced: user(
    'this flag does not belong to this verb',
    'Leave it out; /kdebug help VERB shows what a verb takes.',
  ),
  flag_contradiction: user('two parts of the command contradict each other', 'Keep one of the two.'),
  flag_needs_batch: user(
    'this flag is for several pods',
    'Leave it out, or aim at several pods with -l, --all or a workload such as deployment/web.',
  ),
  verb_unknown: user('there is no such verb', 'See all verbs with /kdebug help verbs.'),
  topic_unknown: user('there is no help on this', 'Type /kdebug help for what there is.'),
  word_unexpected: user(
    'there is a word too many',
    'What the container runs goes after --; quote a value that has spaces.',
  ),
  target_missing: user('no pod was named', 'Name a pod, a workload such as deployment/web, or use -l or --all.'),
  target_kind_unknown: user(
    'kdebug cannot aim at this kind of object',
    'Use pod/, deployment/, statefulset/, daemonset/ or job/ before the name.',
  ),
  name_invalid: user(
    'this cannot be a name in Kubernetes',
    'Names are lower-case letters, digits and hyphens, and begin and end with a letter or digit.',
  ),
  selector_invalid: user(
    'this is not a label selector',
    "Write it as kubectl does, for example -l 'app=web,tier in (a,b)'.",
  ),
  image_invalid: user(
    'this is not an image',
    'Use an alias from /kdebug images, or a reference such as debian:12-slim.',
  ),
  env_invalid: user('this is not an environment variable', 'Write --env=NAME=VALUE.'),
  profile_unknown: user('there is no such profile', 'See the profiles with /kdebug help profiles.'),
  pull_policy_unknown: user('there is no such pull policy', 'Use Always, IfNotPresent or Never.'),
  duration_invalid: user('this is not a usable duration', 'Write for example 90s, 5m, 1h or 1h30m; from 1s to 7d.'),
  number_invalid: user(
    'this number cannot be used here',
    'Write a whole number within the limits that the message names.',
  ),
  reason_invalid: user('this reason cannot be used', 'Say why in 1 to 500 characters.'),
  command_missing: user(
    'there is no command after --',
    'Write -- and the command with its arguments, or leave -- out.',
  ),
  run_id_missing: user('no run was named', 'Give the id of a run; /kdebug list shows them.'),
  run_id_invalid: user(
    'this is not the id of a run',
    'An id has ten characters, a to z and 2 to 7; /kdebug list shows them.',
  ),
  // --- the policy --------------------------------------------------------------------------------------------------
  channel_unknown: user(
    'this channel is not in the policy',
    'Ask the owners of the kdebug policy to add this channel, by its id.',
  ),
  channel_has_no_rules: user(
    'this channel is in the policy, but no rule allows it anything',
    'Ask the owners of the kdebug policy for a rule.',
  ),
  cluster_unknown: user('there is no such cluster in the policy', 'Give one of its clusters with --cluster.'),
  cluster_required: user('the policy has several clusters and no default', 'Say which with --cluster.'),
  cluster_not_allowed: user(
    'no rule of this channel covers that cluster',
    'Give another with --cluster, or ask for a rule.',
  ),
  namespace_not_allowed: user(
    'no rule of this channel covers that namespace',
    'Check -n, or ask in the channel of the team that owns it.',
  ),
  image_required: user(
    'the policy has no default image, so one must be named',
    'Add --image with an alias of the catalogue.',
  ),
  image_not_allowed: user(
    "that image is not in the policy's catalogue",
    'Use one of its aliases; new images are added by the owners of the kdebug policy.',
  ),
  class_not_allowed: user(
    'no rule of this channel covers a launch of that class there',
    'Ask for less (an image of a milder class, its own command, --profile=restricted), or ask for a rule that covers it.',
  ),
  profile_not_allowed: user(
    'no rule of this channel covers that profile there',
    'Leave --profile out: kdebug picks the least power that does. Or ask for a rule.',
  ),
  batch_not_allowed: user(
    'no rule of this channel covers several pods at once there',
    'Name one pod, or ask for a rule.',
  ),
  batch_too_large: user('those are more pods than the rule covers at once', 'Narrow the selector, or add --replicas.'),
  parallelism_not_allowed: user(
    'that is more pods at the same time than the rule covers',
    'Give a smaller --parallelism.',
  ),
  batch_needs_two_approvals: user(
    'the pods differ so much that two rules with different approvers would have to agree',
    'Name a --profile, or ask for fewer kinds of pods at once.',
  ),
  resize_needs_approval: user(
    'that is more than was approved',
    'Ask for a new batch of that size; this one goes on as it is.',
  ),
  command_not_allowed: user(
    'that image runs only its own command here',
    'Leave out the command, --arguments-only and --env, or use an image whose alias allows them.',
  ),
  timeout_too_long: user('that is longer than the policy lets a run take', 'Give a shorter --timeout.'),
  reason_required: user('the rule wants a reason', 'Add --reason="…": those who approve will read it.'),
  no_approver: user(
    'the rule wants an approval, but its groups are empty, so nobody could give one',
    'Ask the owners of the kdebug policy to fill the group.',
  ),
  // --- the target --------------------------------------------------------------------------------------------------
  pod_is_static: user(
    'the pod is static: its node runs it from a file, and Kubernetes allows no ephemeral container in it',
    'Debug it on its node, or pick another pod.',
  ),
  pod_finished: user(
    'the pod has finished, so nothing can run in it any more',
    'Pick a running pod; its own log is still there.',
  ),
  pod_deleting: user('the pod is being deleted', 'Pick another pod of the same workload.'),
  pod_unscheduled: user(
    'the pod is on no node yet, so nothing can run in it',
    'Look at its events: it waits for a node, a volume or a quota.',
  ),
  pod_is_windows: user('the pod runs on Windows, where no debug profile works', 'Use a Linux pod.'),
  pod_has_too_many_containers: user(
    'the pod already holds as many ephemeral containers as the policy allows',
    'They cannot be removed: restart the pod (its workload makes a new one) and try there.',
  ),
  pod_has_too_many_of_yours: user(
    'the pod already holds as many ephemeral containers of yours as the policy allows one person',
    'They cannot be removed: ask a colleague to run it, or restart the pod (its workload makes a new one) and try there.',
  ),
  no_pod_matches: user(
    'no pod matches, so there is nothing to run in',
    'Check the selector or the name, and the namespace (-n).',
  ),
  no_pod_fits: user(
    'pods match, but none of them can be worked on',
    'What stands in the way of each kind is named; pick other pods.',
  ),
  batch_beyond_replicas: user(
    'the pod matches, but --replicas asked for fewer',
    'Give more with /kdebug batch ID --replicas=N while the batch runs.',
  ),
  target_container_not_found: user(
    'there is no such container in the pod',
    'Give one of its containers with --target.',
  ),
  target_container_ended: user(
    'that init container has ended and will not run again',
    'Give a running container with --target, or use --no-target.',
  ),
  profile_refused_here: user(
    "the namespace's Pod Security level refuses that profile",
    'Leave --profile out: kdebug picks one that is admitted.',
  ),
  env_reserved: user('environment names that start with KDEBUG_ are kept for kdebug', 'Use another name.'),
  pod_not_found: user(
    'there is no such pod',
    'Check the name and the namespace (-n); pods of a deployment change their names with every rollout.',
  ),
  namespace_not_found: user(
    'there is no such namespace',
    'Check the spelling of -n; the cluster may be another one too.',
  ),
  invalid_name: user(
    'this cannot be a name in Kubernetes',
    'Names have lower-case letters, digits, `-` and, for pods, `.`; nothing was sent to the cluster.',
  ),
  invalid_selector: user(
    'this is not a label selector',
    'Write it as for kubectl: app=web,tier!=db or "env in (prod,test)".',
  ),
  // --- the cluster -------------------------------------------------------------------------------------------------
  cluster_busy: user('the cluster asks to be left alone for a moment', 'Try again in a minute.'),
  cluster_failed: user(
    'the cluster answered with an error of its own',
    'Try again in a minute; if it stays, the operators of the cluster have to look.',
  ),
  cluster_unauthenticated: user(
    'the cluster does not accept the credentials of kdebug',
    'The operators of kdebug have to renew them.',
  ),
  cluster_forbidden: user(
    'the cluster does not allow this',
    'Ask the operators of the cluster for the right; `npm run rbac` prints what kdebug needs.',
  ),
  cluster_config_invalid: operator(
    'the kubeconfig cannot be used',
    'Check the context, the server address and the files that it names.',
  ),
  identity_reserved: operator(
    'the policy maps a person to an identity that kdebug never takes',
    'Users and groups that start with system: are refused; change identity in the policy.',
  ),
  log_unavailable: user(
    'the node does not give the log',
    'The container may not have started, or the node has removed its log.',
  ),
  cluster_unreachable: user(
    'the cluster does not answer',
    'Try again in a minute; the operators of kdebug see the cause in its log.',
  ),
  identity_unmapped: user(
    'the policy does not say who you are to the cluster, and lets only those act of whom it does',
    'Ask the operators of kdebug to add your Slack user id to identity.users; /kdebug whoami shows it.',
  ),
  // --- Slack -------------------------------------------------------------------------------------------------------
  slack_unreachable: operator(
    'Slack does not answer',
    'Nothing new is begun meanwhile, so try again in a minute; what kdebug has to say it keeps and says later.',
  ),
  slack_unanswered: operator(
    'Slack did not answer clearly, so it may or may not have happened',
    'kdebug looks whether it happened before it says it again.',
  ),
  slack_message_gone: operator('the Slack message was deleted', 'kdebug goes on without it.'),
  slack_channel_closed: operator(
    'kdebug cannot post in that Slack channel (archived, not a member, or unknown)',
    'Invite the bot to the channel; results go to the requester directly until then.',
  ),
  slack_thread_closed: operator(
    'that Slack thread takes no replies (locked, or in a channel without threads)',
    'kdebug goes on in the channel itself.',
  ),
  slack_token_rejected: operator(
    'Slack rejects the token',
    'Check SLACK_BOT_TOKEN (xoxb-…) and SLACK_APP_TOKEN (xapp-…), and that the app is still installed.',
  ),
  slack_refused: operator(
    'Slack refused the call',
    "Slack's own error string says why; a missing scope is the usual cause.",
  ),
  slack_port_unavailable: operator(
    'the port for Slack requests cannot be opened',
    'Set PORT to a free port that this user may open.',
  ),
  slack_not_our_team: user(
    'this comes from another Slack team or app',
    'Use kdebug in the team that it is installed in, as a member of it.',
  ),
  channel_shared: user(
    'this channel is shared with another company (Slack Connect)',
    'Ask in a channel of your own company. The policy can allow it here: slackConnect: allowed.',
  ),
  channel_sharing_unknown: user(
    'kdebug cannot see whether this channel is shared with another company (Slack Connect)',
    'Try again in a minute. For operators: the app needs the scopes channels:read and groups:read, and must be in a private channel.',
  ),
  bot_not_in_channel: user(
    'kdebug is not in this channel',
    'Type `/invite @kdebug` here, then send the command again.',
  ),
  channel_takes_no_posts: user(
    'Slack does not let kdebug post in this channel',
    'Use a channel where apps may post, or ask its owner to allow it. For operators: the log has the reason that Slack gave.',
  ),
  slack_payload_invalid: user(
    'Slack sent something that kdebug does not understand',
    'Try again; if it stays, tell the operators.',
  ),
  slack_not_taken: user(
    'kdebug could not answer in time',
    'It may have begun all the same: look at /kdebug list before you try again.',
  ),
  slack_form_not_opened: user(
    'the form could not be opened',
    'Slack opens one only within three seconds of a command or a click: type /kdebug again, or the whole command.',
  ),
  slack_file_unreadable: user(
    'the file of this message could not be read',
    'Paste its text into a code block. For operators: the app needs the scope files:read, and must be in the channel.',
  ),
  unknown_button: user(
    'kdebug does not know this button',
    'Its message may be from another version: type the command.',
  ),
  person_is_guest: user(
    'guests of the Slack team cannot use kdebug',
    'Ask a full member of the team to do it, or a Slack administrator to make you one.',
  ),
  person_in_other_workspace: user(
    'you are in this organisation, but not in the workspace that kdebug is installed in',
    'Ask a member of that workspace, or ask a Slack administrator to add you to it.',
  ),
  person_is_outsider: user(
    'people of another Slack team cannot use kdebug',
    'Ask a member of the team that kdebug is installed in.',
  ),
  person_is_bot: user('bots cannot use kdebug', 'A person has to ask.'),
  person_is_deactivated: user('this Slack account is deactivated', 'Ask with an account that is in use.'),
  person_unknown: user('Slack does not know this person', 'Try again; if it stays, tell the operators.'),
  usergroup_unknown: operator(
    'Slack does not know a user group that the policy names',
    'Check its id (S…) under approvers in the policy, and that the group still exists.',
  ),
  // --- the bot itself ----------------------------------------------------------------------------------------------
  store_unreachable: user(
    'kdebug cannot reach its own memory',
    'Nothing was started. Try again in a minute; the operators of kdebug see the cause in its log.',
  ),
  store_misconfigured: operator(
    'the Redis that REDIS_URL names cannot be used',
    'docs/redis.md has the version, the settings and the rights that kdebug needs.',
  ),
  store_record_unreadable: operator(
    'a record in Redis cannot be read, so it is left alone',
    'It was changed from outside, sealed with another KDEBUG_KEY, or written by a newer kdebug; the detail says which.',
  ),
  spool_full: user(
    "kdebug's disk buffer for logs is full",
    'What was read before is delivered. Run it again with less output, or when fewer runs are in flight.',
  ),
  spool_failed: operator(
    'the disk buffer for logs cannot be used',
    'Check the temporary directory (TMPDIR) of kdebug.',
  ),
  not_in_this_version: user('this is not in this version of kdebug yet', 'See /kdebug help for what works today.'),
  command_too_long_to_approve: user(
    'the command and its variables do not fit on the card, and nobody approves what they cannot see',
    'Make them shorter, about 2,500 characters in all for one container: put a long script into an image, and name it there.',
  ),
  secret_in_command_to_approve: user(
    'the command or its variables hold what looks like a secret: it is not shown, and nobody approves what they cannot see',
    'Leave the secret out: let the command read it where it is, in a file or a variable of the container.',
  ),
  approval_expired: user('the time for an approval is over', 'Ask for it again when an approver is there.'),
  approval_decided: user('this has been decided already', 'The card shows by whom.'),
  approval_changed: user(
    'what was asked for is not what would run now: the pod, the image or the policy has changed since',
    'Ask for it again.',
  ),
  vote_by_requester: user(
    'nobody approves their own request',
    'Ask another approver; rejecting it is the button Cancel.',
  ),
  vote_by_outsider: user('you are not one of the approvers for this', 'The card names the groups that may decide.'),
  vote_repeated: user('you have voted on this already', 'Another approver is needed.'),
  vote_lapsed: user(
    'an earlier vote counts no more, because who gave it is no approver now',
    'Yours was counted. The card shows whose votes count and how many are needed.',
  ),
  request_too_old: user(
    'this was asked for, or approved, too long ago: kdebug was away meanwhile',
    'Nothing was started. Ask for it again if it is still needed.',
  ),
  approver_left: user(
    'somebody who approved this is no approver any more',
    'Ask for it again; another approver can decide.',
  ),
  not_your_request: user('only who asked for it can cancel it', 'An approver can reject it.'),
  already_asked: user(
    'you have used this button already',
    'Its run answers in the thread, or told you privately why not. To ask once more, type the command.',
  ),
  button_early: user('kdebug has yet to write down where this card stands', 'Press the button again in a moment.'),
  button_stale: user('this button belongs to another message', 'Use the buttons of the newest card.'),
  request_forgotten: user(
    'kdebug has no record of this request any more',
    'Ask for it again; nothing can be started from this card.',
  ),
  grant_of_several: user(
    'one person cannot allow more where several have to agree',
    'The button Approve counts your vote for this request alone.',
  ),
  grant_not_allowed: user(
    'this rule does not let anybody allow more than one run at a time',
    'Press Approve. Whoever keeps the policy can set approval.grants of the rule to allowed; that holds for single pods.',
  ),
  grant_elsewhere: user(
    'another replica of kdebug is at work on the run that this grant was given with, and was told',
    'Its card shows the end within two seconds, or you are told why not. If neither happens, press the button again.',
  ),
  run_elsewhere: user(
    'another replica of kdebug is busy with this run',
    'Nothing was changed. Press the button again in a moment.',
  ),
  grant_ended: user('this grant has ended already', 'Ask for an approval again.'),
  limit_per_person: user('you have asked as often as one person may in a minute', 'Wait a moment, then ask again.'),
  refusals_in_one: operator(
    'more refusals came within a minute than are recorded one by one',
    'The record has their number and the last of them; look at who sends them.',
  ),
  limit_runs_per_person: user(
    'you have as many runs under way as one person may, in all channels together',
    'Wait until one of them has ended; /kdebug list shows them in the channel where you asked.',
  ),
  limit_pending_per_person: user(
    'you have as many requests waiting for an approval as one person may, in all channels together',
    'Wait for an answer, or cancel one on its card; /kdebug list shows them in the channel where you asked.',
  ),
  limit_sessions_per_person: user(
    'kdebug holds as many runs of yours as it may hold of one person',
    'Nothing was started. Wait until some of them have ended: /kdebug list.',
  ),
  limit_per_channel: user(
    'this channel has as many runs under way as it may',
    'Wait until one of them has ended: /kdebug list.',
  ),
  limit_per_cluster: user('this cluster has as many runs under way as it may', 'Wait until some of them have ended.'),
  rehearsal_refused: user(
    'the cluster would refuse it, as a dry run of the very patch showed',
    'Its own words say why; nobody was asked to approve it.',
  ),
  access_denied: user(
    "the cluster's own rights (RBAC) do not allow you this",
    'Have the missing rights granted in that namespace.',
  ),
  batch_not_found: user('there is no such batch in this channel', 'See /kdebug list for the newest ones.'),
  not_your_batch: user(
    'only who asked for this batch, and the approvers of its rule, may change it',
    'Ask one of them; its dashboard shows who asked.',
  ),
  batch_elsewhere: user(
    'another replica of kdebug is at work on this batch, and was told',
    'Its dashboard shows the change within two seconds, or you are told why not.',
  ),
  batch_not_exportable: user(
    'EphemeralJob has no words for what this batch was asked for',
    'See what it was with /kdebug show ID. Of pods that were run again, export the first batch.',
  ),
  manifest_missing: user(
    'there is no EphemeralJob in this message',
    'The YAML has to stand in a code block, or in a file (.yaml) of at most 64 KiB; or paste it after /kdebug apply.',
  ),
  batch_unchangeable: user(
    'the batch cannot be changed like that now',
    'Its dashboard shows where it stands, and the buttons that apply.',
  ),
  manifest_invalid: user(
    'this is not an EphemeralJob that kdebug can run',
    'Each problem is named with its line and column; docs/ephemeraljob.md says what is read.',
  ),
  run_not_found: user('there is no such run in this channel', 'See /kdebug list for the newest ones.'),
  shutting_down: user('kdebug is restarting', 'Nothing was started; try again in a few seconds.'),
  audit_unavailable: user(
    'the audit log cannot be written, and nothing happens without a record',
    'Nothing was started; the operators of kdebug see the cause in its log.',
  ),
  lease_lost: operator('another replica has taken this run over', 'Nothing to do: the other one goes on with it.'),
  too_busy: user('kdebug has as much to do as it can take', 'Nothing was started; try again in a minute.'),
  internal_error: user(
    'something in kdebug itself went wrong',
    'Give the run id to the operators of kdebug; its log has the cause.',
  ),
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof REASONS;

/** Facts of an error, for the sentence and the log; never secrets. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** The world broke, or a thing asked for cannot be. Expected outcomes are values, not errors. */
export class KdebugError extends Error {
  readonly code: ReasonCode;
  /** The cluster's, the kubelet's or Slack's own words, when there are any. */
  readonly detail: string;
  readonly facts: ErrorFacts;

  constructor(code: ReasonCode, options: { detail?: string; facts?: ErrorFacts; cause?: unknown } = {}) {
    super(
      options.detail ? `${REASONS[code].title}: ${options.detail}` : REASONS[code].title,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = 'KdebugError';
    this.code = code;
    this.detail = options.detail ?? '';
    this.facts = options.facts ?? {};
  }

  get title(): string {
    return REASONS[this.code].title;
  }

  get hint(): string {
    return REASONS[this.code].hint;
  }
}

/** Wraps anything thrown, so that callers always see a code. */
export const toKdebugError = (thrown: unknown): KdebugError =>
  thrown instanceof KdebugError
    ? thrown
    : new KdebugError('internal_error', {
        detail: thrown instanceof Error ? thrown.message : String(thrown),
        cause: thrown,
      });
