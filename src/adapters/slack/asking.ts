import { KdebugError } from '../../core/errors.ts';
import { troubleOf } from './poster/slack-errors.ts';

/**
 * One question to the Web API, outside the poster's queue: asked once, at once.
 * @throws KdebugError slack_unreachable (no answer, or a rate limit), slack_token_rejected, slack_refused (fact `error`)
 */
export async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    if (trouble.kind === 'error' && trouble.error.code !== 'slack_unanswered') throw trouble.error;
    throw new KdebugError('slack_unreachable', { cause: thrown });
  }
}
