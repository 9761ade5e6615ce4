import type { AlertNotification } from '../../core/alert/notification.ts';

/**
 * The answer to a notification. `accepted`: its card is stored, or changed. `repeated`: the card has it all already. `ignored`: the policy does not
 * want to know of its alerts, or nothing fires and no card is open.
 */
export type Received = 'accepted' | 'repeated' | 'ignored';

/** Takes notifications of sources of alerts. */
export interface AlertReceiver {
  /**
   * Resolves once everything is stored, so that the source need not send it again. Repeats change nothing, at any replica.
   * @throws KdebugError alert_source_unknown; store_unreachable, shutting_down, slack_token_rejected, too_busy, run_elsewhere, and what is
   * wrong with its channel (channel_shared, bot_not_in_channel, channel_sharing_unknown): nothing is lost if the source sends it again
   */
  receive(source: string, notification: AlertNotification): Promise<Received>;
}
