import { openStage, type Stage } from '../../../play/app/stage.ts';
import { type Page as PlayPage, startPage } from '../../../play/page/server/page.ts';

/** All of `npm run play`: local Slack, local cluster, the real application, and the page's own server. */
export class RealPlay {
  #stage: Stage | undefined;
  #page: PlayPage | undefined;

  get stage(): Stage {
    if (this.#stage === undefined) throw new Error('play was not started');
    return this.#stage;
  }

  get url(): string {
    if (this.#page === undefined) throw new Error('play was not started');
    return this.#page.url;
  }

  async start(): Promise<void> {
    this.#stage = await openStage({ transport: 'socket' });
    const { bed, cluster, examples } = this.#stage;
    this.#page = await startPage({ slack: bed.slack, policyPath: bed.policyPath, cluster, examples });
  }

  async stop(): Promise<void> {
    await this.#page?.stop();
    await this.#stage?.close();
  }
}
