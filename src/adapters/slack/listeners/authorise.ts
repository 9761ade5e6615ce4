import { KdebugError, type ReasonCode } from '../../../core/errors.ts';
import type { Person } from '../../../flow/ports/slack.ts';
import type { Handler } from '../handlers.ts';
import type { Identity } from '../identity.ts';
import type { ListenerContext } from './context.ts';

/** Who sent a request, as far as its payload says. */
export interface Sender {
  readonly userId: string;
  /** Where they stood, if the request says. */
  readonly channelId: string | undefined;
  /** Every team that the request names: where it stands, and the person's own. All of them must be ours. */
  readonly teamIds: readonly (string | undefined)[];
  readonly enterpriseId: string | undefined;
  /** As the payload has it, whatever its shape; undefined where it names none. */
  readonly appId: string | undefined;
}

const REFUSED: Readonly<Record<Exclude<Person['kind'], Handler['needs']>, ReasonCode>> = {
  guest: 'person_is_guest',
  sibling: 'person_in_other_workspace',
  outsider: 'person_is_outsider',
  bot: 'person_is_bot',
  deactivated: 'person_is_deactivated',
};

/**
 * The one check before the inbox hears of anything: our app, our team, and a person of the kind that the handler's row asks
 * for, by what Slack itself says of them now. Resolves when they may.
 * @throws KdebugError slack_not_our_team, person_is_guest, person_in_other_workspace, person_is_outsider, person_is_bot,
 * person_is_deactivated, and the `Directory`'s: who cannot be looked up is refused
 */
export async function authorise(
  { identity, directory }: Pick<ListenerContext, 'identity' | 'directory'>,
  handler: Handler,
  sender: Sender,
): Promise<void> {
  if (!isOurs(sender, handler, identity)) throw new KdebugError('slack_not_our_team');
  if (sender.userId === identity.botUserId) throw new KdebugError('person_is_bot');
  const { kind } = await directory.person(sender.userId);
  if (kind !== handler.needs) throw new KdebugError(REFUSED[kind]);
}

/**
 * A shared channel (Slack Connect) holds people of other teams who see our buttons and commands; another app may sign with
 * a secret that was copied. What names no team is not ours, nor what names another app, nor what should name one and does not. An
 * enterprise vouches only where we are installed in one.
 */
function isOurs(sender: Sender, { namesApp }: Handler, identity: Identity): boolean {
  if (sender.appId === undefined ? namesApp : sender.appId !== identity.appId) return false;
  const teamIds = sender.teamIds.filter((teamId) => teamId !== undefined);
  if (teamIds.length > 0 && teamIds.every((teamId) => teamId === identity.teamId)) return true;
  return identity.enterpriseId !== undefined && sender.enterpriseId === identity.enterpriseId;
}
