import { BOT, COMMAND } from './shown-names.ts';

/** The readers of an error's detail: Slack may show `user` text; `operator` text goes to the log only. */
export type Audience = 'user' | 'operator';

interface Reason {
  /** The failure, as a phrase. */
  readonly title: string;
  /** The reader's next step. */
  readonly hint: string;
  readonly audience: Audience;
}

const user = (title: string, hint: string): Reason => ({ title, hint, audience: 'user' });
const operator = (title: string, hint: string): Reason => ({ title, hint, audience: 'operator' });

/** All reason codes. Codes are stable: logs, metrics, audit records and `docs/errors.md` use them. */
export const REASONS = {
  // --- the command -------------------------------------------------------------------------------------------------
  command_too_long: user(
    'the command is too long',
    'Write at most 16,000 characters; put a longer script into an image.',
  ),
  quote_open: user('a quote is not closed', 'Close the quote, or put a backslash before it if it is part of the text.'),
  flag_unknown: user(
    'unknown flag',
    `See all flags with ${COMMAND} help flags. The command for the container goes after --.`,
  ),
  flag_unsupported: user('this flag has no effect here', `Leave it out; see all flags with ${COMMAND} help flags.`),
  flag_value_missing: user('a flag has no value', 'Write the value after the flag: --flag=value or --flag value.'),
  flag_value_unexpected: user('this flag takes no value', 'Write the flag alone, or leave it out.'),
  flag_repeated: user('a flag is repeated', 'Use it once; only --env may be repeated.'),
  flag_misplaced: user(
    'this flag does not work with this verb',
    `Leave it out. ${COMMAND} help VERB lists the flags of a verb.`,
  ),
  flag_contradiction: user('two parts of the command contradict each other', 'Keep one of the two.'),
  flag_needs_batch: user(
    'this flag is for several pods',
    'Leave it out, or aim at several pods with -l, --all or a workload such as deployment/web.',
  ),
  verb_unknown: user('unknown verb', `See all verbs with ${COMMAND} help verbs.`),
  topic_unknown: user('there is no help on this topic', `Type ${COMMAND} help for the list of topics.`),
  word_unexpected: user(
    'unexpected word',
    'The command for the container goes after --. Put quotes around a value with spaces.',
  ),
  target_missing: user('no pod given', 'Name a pod, a workload such as deployment/web, or use -l or --all.'),
  target_kind_unknown: user(
    'kdebug cannot debug this kind of object',
    'Use pod/, deployment/, statefulset/, daemonset/ or job/ before the name.',
  ),
  name_invalid: user(
    'this is not a valid Kubernetes name',
    'Names are lower-case letters, digits and hyphens, and begin and end with a letter or digit.',
  ),
  selector_invalid: user('this is not a valid label selector', "Write for example -l 'app=web,tier in (a,b)'."),
  image_invalid: user(
    'this is not a valid image',
    `Use an alias from ${COMMAND} images, or a reference such as debian:12-slim.`,
  ),
  env_invalid: user('this is not a valid environment variable', 'Write --env=NAME=VALUE.'),
  condition_invalid: user('this is no condition to watch for', 'Write for example --when="memory>92%".'),
  profile_unknown: user('unknown profile', `See the profiles with ${COMMAND} help profiles.`),
  pull_policy_unknown: user('unknown pull policy', 'Use Always, IfNotPresent or Never.'),
  duration_invalid: user('this is not a valid duration', 'Write for example 90s, 5m, 1h or 1h30m; from 1s to 7d.'),
  number_invalid: user('this number is out of range', 'Write a whole number within the limits shown.'),
  reason_invalid: user('this reason is empty or too long', 'Write a reason of 1 to 500 characters.'),
  command_missing: user(
    'there is no command after --',
    'Write -- and the command with its arguments, or leave -- out.',
  ),
  run_id_missing: user('no run given', `Add the id of a run; ${COMMAND} list shows them.`),
  outcome_unknown: user('unknown outcome or state', 'Use one of the words listed in the answer.'),
  run_id_invalid: user(
    'this is not a run id',
    `An id has ten characters, a to z and 2 to 7; ${COMMAND} list shows them.`,
  ),
  // --- the policy --------------------------------------------------------------------------------------------------
  channel_unknown: user(
    'this channel is not in the policy',
    'Ask the owners of the kdebug policy to add this channel, by its id.',
  ),
  channel_needed: user(
    'kdebug does not work in direct messages',
    'Use kdebug in a channel that its policy names: there, everybody can see what was run. The Home tab of kdebug lists yours.',
  ),
  direct_not_allowed: user(
    'the policy does not let you use kdebug in direct messages',
    'Use kdebug in a channel that its policy names. The Home tab of kdebug lists yours.',
  ),
  channel_none: user(
    'none of your channels may use kdebug',
    `Join a channel that the kdebug policy names, invite ${BOT} to one, or ask the owners of the policy to add yours.`,
  ),
  home_late: user('this page took too long to load', 'Open the Home tab again in a few seconds.'),
  channel_has_no_rules: user(
    'this channel is in the policy, but no rule allows anything here',
    'Ask the owners of the kdebug policy for a rule.',
  ),
  cluster_unknown: user('the policy has no such cluster', 'Name one of its clusters with --cluster.'),
  cluster_required: user('the policy has several clusters and no default', 'Choose one with --cluster.'),
  cluster_not_allowed: user(
    'no rule of this channel allows that cluster',
    'Choose another with --cluster, or ask the policy owners for a rule.',
  ),
  namespace_not_allowed: user(
    'no rule of this channel allows that namespace',
    'Check -n, or ask in the channel of the team that owns it.',
  ),
  image_required: user(
    'the policy has no default image, so you need to name one',
    `Add --image with an alias from ${COMMAND} images.`,
  ),
  image_not_allowed: user(
    "that image is not in the policy's catalogue",
    `Use an alias from ${COMMAND} images. The owners of the kdebug policy can add images.`,
  ),
  class_not_allowed: user(
    'no rule of this channel allows this kind of run there',
    'Use less power (an image that only reads, its default command, --profile=restricted), or ask the policy owners.',
  ),
  tracer_not_allowed: user(
    'this image seizes its target as a debugger does, and no rule of this channel says that it may there',
    'Use an image that does not trace, or ask the policy owners for a rule with traces: true.',
  ),
  profile_not_allowed: user(
    'no rule of this channel allows that profile there',
    'Leave out --profile: kdebug picks the least power that works. Or ask the policy owners for a rule.',
  ),
  batch_not_allowed: user(
    'no rule of this channel allows several pods at once there',
    'Name one pod, or ask the policy owners for a rule.',
  ),
  secret_files_need_approval: user(
    'this image may bring back files that hold secrets, and no rule of this channel lets somebody approve that there',
    'Use another image, or ask the policy owners for a rule with an approval.',
  ),
  secret_files_not_in_batch: user(
    'this image may bring back files that hold secrets, and a batch never brings them back',
    'Name one pod, or use another image.',
  ),
  once_more_needs_approval: user(
    'a program runs a second time only with an approval, and no rule of this channel has one there',
    'Ask the policy owners for a rule with the class elevated and an approval.',
  ),
  once_more_workload_not_allowed: user(
    'the program of this workload may count on being alone, so it does not run a second time',
    'Of Jobs and StatefulSets a rule may allow it with onceMore, of other kinds none. Look at it with --image=blackbox.',
  ),
  batch_too_large: user('too many pods', 'Narrow the selector, or add --replicas.'),
  parallelism_not_allowed: user('too many pods in parallel', 'Use a smaller --parallelism.'),
  batch_needs_two_approvals: user(
    'these pods need approvals by two different rules, and a request can have only one',
    'Set --profile, or select pods that are more alike.',
  ),
  resize_needs_approval: user(
    'this is more than the approvers approved',
    'Request a new batch of that size; this one continues unchanged.',
  ),
  command_not_allowed: user(
    'this image runs only its default command here',
    'Leave out the command, --arguments-only and --env, or use an image whose alias allows them.',
  ),
  setting_not_allowed: user(
    'this image has no such setting',
    `Use a setting that ${COMMAND} images names, with one line of at most 256 ordinary characters (ASCII) as its value.`,
  ),
  timeout_too_long: user(
    'the timeout is longer than the policy allows',
    'Use a shorter --timeout; with watch a shorter --for, which needs 2 minutes more.',
  ),
  reason_required: user('the rule requires a reason', 'Add --reason="…": the approvers will read it.'),
  no_approver: user(
    'the rule requires an approval, but its approver groups are empty',
    'Ask the owners of the kdebug policy to fill the group.',
  ),
  // --- the target --------------------------------------------------------------------------------------------------
  pod_is_static: user(
    'the pod is static (its node runs it from a file), and Kubernetes does not allow ephemeral containers in it',
    'Debug it on its node, or pick another pod.',
  ),
  pod_finished: user(
    'the pod has finished, so nothing can run in it',
    `${COMMAND} POD and ${COMMAND} describe POD say how it ended. Pick a running pod for a look inside.`,
  ),
  pod_deleting: user(
    'the pod is being deleted',
    `Pick another pod of the same workload, or ask ${COMMAND} describe POD what holds it.`,
  ),
  pod_unscheduled: user(
    'the pod is not scheduled to a node yet, so nothing can run in it',
    `${COMMAND} describe POD says what it waits for: a node, a volume or a quota.`,
  ),
  pod_is_windows: user('the pod runs on Windows, and debug profiles work on Linux only', 'Use a Linux pod.'),
  pod_has_too_many_containers: user(
    'the pod has reached its limit of ephemeral containers',
    'They cannot be removed. Restart the pod and try in the new one.',
  ),
  pod_has_too_many_of_yours: user(
    'you have reached your limit of ephemeral containers in this pod',
    'They cannot be removed. Ask a colleague to run this, or restart the pod and try in the new one.',
  ),
  no_pod_matches: user('no pod matches', 'Check the selector or the name, and the namespace (-n).'),
  compare_no_owner: user(
    'this pod has no owner, so it has no siblings to compare it with',
    `Look at it alone with ${COMMAND} POD --image=autodiagnose, or compare a pod of a Deployment, StatefulSet or DaemonSet.`,
  ),
  compare_no_siblings: user(
    'no healthy sibling of this pod can be compared with it',
    `Look at it alone with ${COMMAND} POD --image=autodiagnose.`,
  ),
  compare_needs_diagnostic: user(
    'kdebug believes no report of the image that would compare the pods',
    'Ask the owner of the policy to add diagnostic: true to the image autodiagnose.',
  ),
  no_pod_fits: user(
    'pods match, but none of them can be debugged',
    `Pick other pods, or ask ${COMMAND} describe POD about one of them.`,
  ),
  batch_beyond_replicas: user(
    'the pod matches, but is beyond the limit set with --replicas',
    `Raise it with ${COMMAND} batch ID --replicas=N while the batch runs.`,
  ),
  target_container_not_found: user('the pod has no such container', 'Name one of its containers with --target.'),
  target_container_ended: user(
    'that init container has finished and will not run again',
    'Name a running container with --target, or use --no-target.',
  ),
  once_more_running: user(
    'that container runs now, so it needs no second run',
    'Watch how it ends with --image=blackbox, or name a container that is down with --target.',
  ),
  once_more_not_ended: user(
    'that container has not run and ended yet, so there is nothing to run once more',
    `${COMMAND} describe POD says what it waits for.`,
  ),
  once_more_goes_on: user(
    'an earlier second run of that container still goes on in this pod',
    `Wait until it ends, which ${COMMAND} show ID says. Nothing can stop it but the end of its pod.`,
  ),
  once_more_no_digest: user(
    'the pod does not say which image that container ran, by its digest',
    'Try again when its node has reported on it.',
  ),
  once_more_no_variable: user(
    "that variable is not in the container's own env, so it cannot be left out",
    'Check its name; variables that come from a whole ConfigMap or Secret cannot be left out alone.',
  ),
  once_more_no_revision: user(
    'there is no such revision to take the image of',
    'Name the number of one that the Deployment still keeps: --image-of=N. Other workloads have none here.',
  ),
  once_more_same_image: user(
    "that revision has the container's own image, so a run with it would say nothing new",
    'Name a revision with another image, or leave out --image-of.',
  ),
  once_more_revisions_unreadable: user(
    'kdebug may not read the ReplicaSets of that namespace, which hold the images of earlier revisions',
    'Ask the operators of kdebug for this optional right: its component more-facts gives it.',
  ),
  profile_refused_here: user(
    "the namespace's Pod Security level refuses that profile",
    'Leave out --profile: kdebug picks one that the namespace allows.',
  ),
  env_reserved: user('environment names that start with KDEBUG_ are reserved for kdebug', 'Use another name.'),
  pod_not_found: user(
    'pod not found',
    `Check the name and the namespace (-n): a rollout gives pods new names. Type ${COMMAND} alone to search for the pod.`,
  ),
  pod_is_gone: user('this pod is gone', 'Ask about what is named here: its workload, or the pod in its place.'),
  namespace_not_found: user('namespace not found', 'Check the spelling of -n, and the cluster.'),
  invalid_name: user(
    'this is not a valid Kubernetes name',
    'Names have lower-case letters, digits, hyphens and, for pods, dots; nothing was sent to the cluster.',
  ),
  invalid_selector: user(
    'this is not a valid label selector',
    'Write for example app=web,tier!=db or "env in (prod,test)".',
  ),
  // --- the cluster -------------------------------------------------------------------------------------------------
  cluster_busy: user('the cluster is overloaded', 'Try again in a minute.'),
  cluster_failed: user(
    'the cluster answered with an error',
    'Try again in a minute; if it happens again, ask the operators of the cluster.',
  ),
  cluster_unauthenticated: user(
    'the cluster does not accept kdebug’s credentials',
    'The operators of kdebug need to renew them.',
  ),
  cluster_forbidden: user(
    'the cluster does not allow this',
    'Ask the operators of the cluster for the permission; npm run rbac prints what kdebug needs.',
  ),
  cluster_config_invalid: operator(
    'the kubeconfig cannot be used',
    'Check the context, the server address and the files that it names.',
  ),
  identity_reserved: operator(
    'the policy maps a person to an identity that kdebug never uses',
    'Users and groups that start with system: are refused; change identity in the policy.',
  ),
  log_unavailable: user(
    'the node does not provide the log',
    'The container may not have started, or the node has removed its log.',
  ),
  cluster_unreachable: user(
    'the cluster does not answer',
    'Try again in a minute; the operators of kdebug see the cause in its log.',
  ),
  identity_unmapped: user(
    'the policy does not map you to a cluster identity, and requires one',
    `Ask the operators of kdebug to add your Slack user id to identity.users; ${COMMAND} whoami shows it.`,
  ),
  // --- Slack -------------------------------------------------------------------------------------------------------
  slack_unreachable: operator(
    'Slack does not answer',
    'Nothing new starts meanwhile, so try again in a minute. kdebug keeps its messages and posts them later.',
  ),
  slack_busy: user(
    'Slack cannot say now who is in this group or channel: kdebug has asked as often as Slack allows in a minute',
    'Nothing was changed. Try again in a minute.',
  ),
  slack_unanswered: operator(
    'Slack did not confirm the call, so it may or may not have happened',
    'kdebug checks whether it happened before it posts again.',
  ),
  slack_message_gone: operator('the Slack message was deleted', 'kdebug continues without it.'),
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
    'kdebug cannot post results, so it starts nothing. Operators: check SLACK_BOT_TOKEN (xoxb-…) and SLACK_APP_TOKEN (xapp-…), and that the app is still installed.',
  ),
  slack_scopes_missing: operator(
    'the Slack app was not granted all that kdebug needs',
    'At api.slack.com/apps, paste slack-app.json under "App Manifest", reinstall the app under "Install App"; then restart kdebug.',
  ),
  slack_org_install: operator(
    'the Slack app is installed for a whole organisation, and kdebug serves one workspace',
    'Install the app in one workspace of the organisation, and set SLACK_BOT_TOKEN to the token of that installation.',
  ),
  slack_socket_mode_off: operator(
    "Socket Mode is switched off in the Slack app's settings, so nothing from Slack arrives",
    'Switch it on at api.slack.com/apps, "Socket Mode"; kdebug connects again by itself. To receive over HTTP instead, leave SLACK_APP_TOKEN out.',
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
    'this request came from a different Slack workspace or app',
    'Use kdebug in the workspace where it is installed, as a member of it.',
  ),
  channel_shared: user(
    'this channel is shared with another company (Slack Connect)',
    'Ask in a channel of your own company. The policy can allow it here: slackConnect: allowed.',
  ),
  channel_sharing_unknown: user(
    'kdebug cannot see whether this channel is shared with another company (Slack Connect)',
    'Try again in a minute. For operators: the app needs the scopes channels:read and groups:read, and must be in a private channel.',
  ),
  bot_not_in_channel: user('kdebug is not in this channel', `Type /invite ${BOT} here, then send the command again.`),
  channel_takes_no_posts: user(
    'Slack does not let kdebug post in this channel',
    'Use a channel where apps may post, or ask its owner to allow it. For operators: the log has the reason that Slack gave.',
  ),
  slack_payload_invalid: user(
    'Slack sent something that kdebug does not understand',
    'Try again; if it happens again, tell the operators of kdebug.',
  ),
  slack_event_late: user(
    'Slack brought this message to kdebug more than ten minutes late, so nothing was started',
    "If you still need it, send it again. If every message is answered so, the clock of kdebug's machine is wrong: tell its operators.",
  ),
  slack_edit_late: user(
    'kdebug does not act on a message that was edited more than five minutes after it was sent',
    'The edit started nothing. If you want to run it as it is now, send it as a new message.',
  ),
  slack_not_taken: user(
    'kdebug took too long to respond',
    `It may still have started: check ${COMMAND} list before retrying.`,
  ),
  slack_form_not_opened: user(
    'the form could not be opened',
    `Slack allows three seconds to open it: type ${COMMAND} again, or the whole command.`,
  ),
  slack_file_unreadable: user(
    'the file of this message could not be read',
    'Paste its text into a code block. For operators: the app needs the scope files:read, and must be in the channel.',
  ),
  unknown_button: user(
    'kdebug does not know this button',
    'Its message may be from another version: type the command instead.',
  ),
  person_is_guest: user(
    'guests of the Slack workspace cannot use kdebug',
    'Ask a full member to do it, or ask a Slack administrator to make you one.',
  ),
  person_in_other_workspace: user(
    'you are in this organisation, but not in the workspace that kdebug is installed in',
    'Ask a member of that workspace, or ask a Slack administrator to add you to it.',
  ),
  person_is_outsider: user(
    'people from another Slack workspace cannot use kdebug',
    'Ask a member of the workspace where kdebug is installed.',
  ),
  person_is_bot: user('bots cannot use kdebug', 'A person has to send the request.'),
  person_is_deactivated: user('this Slack account is deactivated', 'Use an active account.'),
  person_unknown: user(
    'Slack does not know this person',
    'Try again; if it happens again, tell the operators of kdebug.',
  ),
  approvers_channel_closed: user(
    'kdebug cannot see who is in the approvers’ channel, so nobody there can approve this',
    `Invite ${BOT} to that channel (it may have 2,000 members at most), or name the approvers in the policy.`,
  ),
  usergroup_unknown: operator(
    'Slack does not know a user group that the policy names',
    'Check its id (S…) under approvers in the policy, and that the group still exists.',
  ),
  // --- the bot itself ----------------------------------------------------------------------------------------------
  store_unreachable: user(
    'kdebug cannot reach its store',
    'Nothing was started. Try again in a minute; the operators of kdebug see the cause in its log.',
  ),
  store_misconfigured: operator(
    'the Redis that REDIS_URL names cannot be used',
    'docs/redis.md has the version, the settings and the rights that kdebug needs.',
  ),
  store_not_shared: operator(
    'another replica of kdebug runs, and this one has its runs in memory',
    'Run one replica, or give all of them one Redis: docs/operations.md, "From one replica to several".',
  ),
  store_record_unreadable: operator(
    'a record in Redis cannot be read, so it is left alone',
    'It was changed from outside, sealed with another KDEBUG_KEY, or written by a newer kdebug; the detail says which.',
  ),
  spool_full: user(
    "kdebug's disk buffer for logs is full",
    'What was read so far is delivered. Run it again with less output, or when fewer runs are in progress.',
  ),
  spool_failed: operator(
    'the disk buffer for logs cannot be used',
    'Check the temporary directory (TMPDIR) of kdebug.',
  ),
  command_too_long_to_approve: user(
    'the command and its variables do not fit on the card, and nobody should approve what they cannot see',
    'Make them shorter, about 2,500 characters in all for one container: put a long script into an image, and name it there.',
  ),
  once_more_too_long_to_approve: user(
    'the command, the variables or the mounts of the program do not fit on the card, and nobody should approve what they cannot see',
    'They may have about 3,500 characters in all. Run a copy of the pod with a shorter spec instead.',
  ),
  secret_in_command_to_approve: user(
    'the command or its variables contain what looks like a secret: it is not shown, and nobody should approve what they cannot see',
    'Leave the secret out: let the command read it where it is, in a file or a variable of the container.',
  ),
  approval_expired: user('this request has expired', 'Send it again when an approver is around.'),
  approval_decided: user('this request is already decided', 'The card shows who decided.'),
  approval_changed: user('the pod, the image or the policy has changed since the request', 'Send the request again.'),
  vote_by_requester: user(
    'you can’t approve your own request',
    'Ask another approver, or withdraw it with the button Withdraw request.',
  ),
  vote_by_outsider: user('you are not an approver for this', 'The card names the approvers.'),
  vote_repeated: user('you have already voted on this', 'Another approver is needed.'),
  vote_lapsed: user(
    'an earlier vote no longer counts, because its voter is not an approver any more',
    'Your vote was counted. The card shows whose votes count and how many are needed.',
  ),
  request_too_old: user(
    'this request, or its approval, is too old: kdebug was not running meanwhile',
    'Nothing was started. Send it again if you still need it.',
  ),
  approver_left: user(
    'somebody who approved this is not an approver any more',
    'Send the request again; another approver can decide.',
  ),
  not_your_request: user('only the requester can withdraw or cancel this', 'An approver can reject it.'),
  already_asked: user(
    'you have already used this button',
    'Its result is in the thread, or in a private message to you. To run it again, type the command.',
  ),
  alert_unreadable: user(
    'the button of this alert does not say which pod it is about',
    `Its value must be CLUSTER/NAMESPACE/POD or CLUSTER/NAMESPACE/KIND/NAME; whoever configured the alert finds it in docs/alerts.md. Until then, type ${COMMAND} and the pod’s name.`,
  ),
  alert_looked_at: user(
    'somebody has pressed this button already, and kdebug is still looking',
    'The answer comes in the thread of the alert.',
  ),
  alert_cluster_unknown: user(
    'the policy does not say which cluster this alert is about',
    'Add the value of its label cluster to clusters of this source in the policy.',
  ),
  alert_names_no_pod: user(
    'the labels of this alert name no pod and no workload',
    `Type ${COMMAND} and the pod’s name in this thread. An alert needs the labels namespace, and pod or deployment.`,
  ),
  alert_of_exporter: user(
    'the labels name the exporter that reports it',
    'Set honor_labels: true in Prometheus, or keep the label exported_pod.',
  ),
  alert_of_dead_node: user(
    'the node does not report that it is ready, so nothing can be looked at inside its pods',
    'The alerts of its pods are in this thread. Whoever runs the node must bring it back; its pods move to other nodes after five minutes.',
  ),
  alert_of_kdebug: user('this alert is about kdebug itself', 'See docs/operations.md.'),
  alert_too_old: user(
    'this alert began more than 15 minutes before it arrived',
    `Type ${COMMAND} and the pod’s name in this thread to look now.`,
  ),
  alert_cooldown: user(
    'this workload was looked at for the same alert a short while ago',
    'The card before this one has the answer.',
  ),
  alert_limit: user(
    'too many alerts came to this channel at once',
    `Type ${COMMAND} and the pod’s name in this thread to look at this one.`,
  ),
  alert_storm: user(
    'more alerts came at once than kdebug looks at',
    `The others are in this thread. Type ${COMMAND} and a pod’s name there to look at one.`,
  ),
  alert_needs_approval: user(
    'the rule wants an approval, and nobody asked for this look',
    `Type ${COMMAND} and the pod’s name in this thread, or set ask: true for this source in the policy.`,
  ),
  alert_not_observe: user(
    'an alert starts only what is of class observe',
    `Type ${COMMAND} and the pod’s name in this thread to ask for more.`,
  ),
  alert_source_unknown: operator(
    'the policy has no source of alerts with this name',
    'Add it under alerts: in the policy, or correct the path: /alerts/NAME.',
  ),
  alert_secret_missing: operator(
    'the secret of this source of alerts is not set, or has less than 16 characters',
    'Set the environment variable that secretEnv of the source names.',
  ),
  alert_unauthorized: operator(
    'a notification came without the right secret',
    'Send Authorization: Bearer with the secret; for Grafana, or its signature with the header X-Grafana-Alerting-Timestamp.',
  ),
  alert_body_invalid: operator(
    'a notification is not in a format that kdebug reads',
    'Alertmanager must send version 4 as it is, Grafana its own webhook without a custom payload.',
  ),
  alert_body_too_large: operator(
    'a notification has more than 1 MiB or 500 alerts',
    'Set max_alerts of the receiver to 200.',
  ),
  edit_of_taken: user(
    'kdebug has taken this message already, and your edit changes nothing',
    'Send a new message with the new words.',
  ),
  same_again: user('an equal run has just finished', 'Read its result, or press Run anyway under the private answer.'),
  run_not_ended: user('this run has not ended yet', 'Wait for its result, or type the command again.'),
  run_has_secret: user(
    'the command of this run has a secret in it, and another person typed it',
    'Type the command yourself, with your own secret.',
  ),
  nothing_to_ask_for: user(
    'no profile that this channel may ask for would help',
    `Ask the policy owners for a rule: ${COMMAND} whoami shows the rules of this channel.`,
  ),
  button_early: user('this card is not ready yet', 'Click the button again in a moment.'),
  button_stale: user('this button belongs to another message', 'Use the buttons of the newest card.'),
  request_forgotten: user(
    'kdebug has no record of this request any more',
    'Send it again; nothing can be started from this card.',
  ),
  grant_of_several: user(
    'one person cannot approve repeats when several approvals are required',
    'The button Approve counts your vote for this request alone.',
  ),
  grant_not_allowed: user(
    'this rule allows only one run per approval',
    'Click Approve. The policy owners can set approval.grants of the rule to allowed; that holds for single pods.',
  ),
  grant_elsewhere: user(
    'another replica of kdebug handles the run of this grant and will end it',
    'Its card shows the change within two seconds, or you get a message that says why not. If neither happens, click the button again.',
  ),
  run_elsewhere: user(
    'another replica of kdebug is busy with this run',
    'Nothing was changed. Click the button again in a moment.',
  ),
  grant_ended: user('this grant has already ended', 'Request an approval again.'),
  limit_per_person: user('you have reached the limit of requests per minute', 'Wait a moment, then try again.'),
  refusals_in_one: operator(
    'more refusals came within a minute than are recorded one by one',
    'The record has their number and the last of them; check who sends them.',
  ),
  limit_runs_per_person: user(
    'you have reached your limit of runs in progress, in all channels together',
    `Wait until one of them has finished; ${COMMAND} list shows them in the channel of the request.`,
  ),
  limit_pending_per_person: user(
    'you have reached your limit of requests waiting for approval, in all channels together',
    `Wait for an answer, or withdraw one on its card; ${COMMAND} list shows them in the channel of the request.`,
  ),
  limit_sessions_per_person: user(
    'you have reached your limit of open runs',
    `Nothing was started. Wait until some of them have finished: ${COMMAND} list.`,
  ),
  limit_per_channel: user(
    'this channel has reached its limit of runs in progress',
    `Wait until one of them has finished: ${COMMAND} list.`,
  ),
  limit_per_cluster: user(
    'this cluster has reached its limit of runs in progress',
    'Wait until some of them have finished.',
  ),
  rehearsal_refused: user('the cluster would refuse this', 'A dry run showed it. Nobody was asked to approve it.'),
  access_denied: user(
    'your permissions in the cluster (RBAC) do not allow this',
    'Ask the owners of that namespace for the missing permissions.',
  ),
  batch_not_found: user('no such batch in this channel', `See ${COMMAND} list for the newest ones.`),
  not_your_batch: user(
    'only the requester of this batch and the approvers of its rule can change it',
    'Ask one of them; its card names the requester.',
  ),
  batch_elsewhere: user(
    'another replica of kdebug handles this batch and will change it',
    'Its card shows the change within two seconds, or kdebug tells you why not.',
  ),
  batch_not_exportable: user(
    'an EphemeralJob cannot describe this batch',
    `See what it was with ${COMMAND} show ID. Of pods that were run again, export the first batch.`,
  ),
  manifest_missing: user(
    'there is no EphemeralJob in this message',
    `Put the YAML into a code block or a .yaml file (up to 64 KiB), or paste it after ${COMMAND} apply.`,
  ),
  batch_unchangeable: user(
    'this change is not possible in the batch’s current state',
    'Its card shows its state and the buttons that apply.',
  ),
  manifest_invalid: user(
    'this is not an EphemeralJob that kdebug can run',
    'Each problem is listed with its line and column; docs/ephemeraljob.md lists the supported fields.',
  ),
  list_all_not_approver: user(
    'only approvers can list runs of other channels, and you are not an approver',
    `Type ${COMMAND} list --mine --all for your own runs in every channel.`,
  ),
  lookup_late: user('the answer took too long', 'Nothing was started or changed. Try again in a moment.'),
  not_your_run: user(
    'only the requester of this run and the approvers of its rule can stop it',
    'Ask one of them; its card names them.',
  ),
  run_ended: user('this run has already ended', `See its result with ${COMMAND} show and its id.`),
  stop_too_early: user('this run is still being checked', 'Try again in a moment.'),
  stop_under_way: user(
    'somebody is already stopping this run',
    'Its card shows when it has stopped, or why it could not.',
  ),
  stop_without_target: user(
    'this run has no target container, so nothing can reach its processes',
    'It ends when its command exits, or when the pod ends.',
  ),
  stop_without_image: user(
    'stopping a run needs an image that can do it, and the policy has none',
    'Ask the policy owners to add autodiagnose with diagnostic: true. Until then, a run ends when its command exits.',
  ),
  stop_not_allowed: user(
    'no rule lets you start the image that would stop this run, and it would have more power than the run',
    'Ask the policy owners for a rule without an approval for this class and profile, or for autodiagnose as class observe.',
  ),
  stop_without_user: user(
    'only the image of this run knows which user it runs as, and no rule lets you stop it as root',
    'It ends when its command exits. A run without --profile, or in a pod with runAsUser, can be stopped.',
  ),
  stop_changed: user('the policy or the pod has changed since you asked to stop this run', 'Stop it again.'),
  stop_elsewhere: user(
    'another replica of kdebug handles this run and will stop it',
    'Its card shows the change within a few seconds, or kdebug tells you why not. If neither happens, kdebug no longer follows this run.',
  ),
  run_not_found: user('no such run in this channel', `See ${COMMAND} list for the newest ones.`),
  shutting_down: user('kdebug is restarting', 'Nothing was started; try again in a few seconds.'),
  audit_unavailable: user(
    'the audit log cannot be written, so kdebug does nothing',
    'Nothing was started; the operators of kdebug see the cause in its log.',
  ),
  lease_lost: operator('another replica has taken over this run', 'Nothing to do: the other replica continues it.'),
  too_busy: user('kdebug has reached its limit of runs in progress', 'Nothing was started; try again in a minute.'),
  internal_error: user(
    'internal error in kdebug',
    'Give the run id to the operators of kdebug; its log has the cause.',
  ),
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof REASONS;

/** Facts of an error, for the sentence and the log; never secrets. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** Something in the world failed, or a request is impossible. Expected outcomes are values, not errors. */
export class KdebugError extends Error {
  readonly code: ReasonCode;
  /** The original words of the cluster, the kubelet or Slack, if any. */
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

/** Wraps anything thrown, so that callers always get a code. */
export const toKdebugError = (thrown: unknown): KdebugError =>
  thrown instanceof KdebugError
    ? thrown
    : new KdebugError('internal_error', {
        detail: thrown instanceof Error ? thrown.message : String(thrown),
        cause: thrown,
      });
