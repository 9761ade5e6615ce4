import type { Payload } from '../../scripts/check-blocks/validate.ts';
import { modal } from '../../src/adapters/slack/views/modal.ts';
import { homeTab, view } from '../../src/adapters/slack/views/view.ts';
import { asChannelId } from '../../src/core/ids.ts';
import { channelForm, homeMessage } from '../../src/core/say/answers/home-messages.ts';
import { applyForm } from '../../src/core/say/batch/batch-forms.ts';
import type { Form } from '../../src/core/say/message/message.ts';
import { loadingForm } from '../../src/core/say/request-form.ts';
import { voteForm } from '../../src/flow/planning/approvers.ts';
import { anApproval, aPolicy, aRun, START_MS } from './builders.ts';
import { EVERY_MESSAGE } from './every-message.ts';

const messages = EVERY_MESSAGE.flatMap(({ file, examples }) =>
  examples.map(({ name, message }): Payload => ({ name: `${file}: ${name}`, kind: 'message', content: view(message) })),
);

const FORMS: Readonly<Record<string, Form>> = {
  'the form while it loads': loadingForm,
  'the form with every kind of field': {
    ...loadingForm,
    intro: 'In #shop-oncall.',
    fields: [
      { id: 'pod', label: 'Pod', kind: 'search', optional: false, dispatches: true, initial: 'web-1' },
      { id: 'image', label: 'Image', kind: 'choice', optional: false, options: [{ value: 'debian', label: 'debian' }] },
      { id: 'command', label: 'Command', kind: 'lines', optional: true, hint: 'Given to no shell', maxLength: 1_000 },
      { id: 'timeout', label: 'Time limit', kind: 'line', optional: true, placeholder: '5m' },
    ],
  },
  'the choice of a channel': channelForm([{ id: 'C0SHOP', name: '#shop-oncall' }], 2),
  'the reason of a vote': voteForm(aRun({ approval: anApproval() }), 'approve'),
  'an EphemeralJob': applyForm({ namespace: 'shop', yaml: 'apiVersion: apps.kruise.io/v1alpha1' }),
};
const forms = Object.entries(FORMS).map(
  ([name, form]): Payload => ({ name, kind: 'view', content: modal(form, { channelId: 'C0SHOP' }) }),
);

const policy = aPolicy();
const nothing = { waiting: undefined, mine: [], channels: [], channelsLeftOut: 0, channelsTooLarge: 0, policy };
const pending = {
  run: aRun({ state: 'pending-approval', approval: anApproval() }),
  url: 'https://example.slack.com/archives/C0SHOP/p1',
};
const HOMES = {
  'an empty Home tab': homeMessage({ ...nothing, isIncomplete: true, nowMs: START_MS }),
  'a full Home tab': homeMessage({
    ...nothing,
    waiting: Array.from({ length: 20 }, () => pending),
    mine: Array.from({ length: 10 }, () => pending),
    channels: Object.entries(policy.channels).map(([id, rules]) => [asChannelId(id), rules] as const),
    channelsLeftOut: 3,
    channelsTooLarge: 1,
    isIncomplete: false,
    nowMs: START_MS,
  }),
};
const homes = Object.entries(HOMES).map(
  ([name, message]): Payload => ({ name, kind: 'view', content: homeTab(message) }),
);

/** Everything that the tests know kdebug to show in Slack. */
export const ALL_PAYLOADS: readonly Payload[] = [...messages, ...forms, ...homes];
