import { afterAll, beforeAll, expect } from 'vitest';
import { openStage, type Stage } from '../../../app/stage.ts';
import { type Page as PlayPage, startPage } from '../../../page/server/page.ts';
import { type BrowserOptions, describeInBrowser, type Opener } from './browser.ts';

/** All of `npm run play`: local Slack, local cluster, the real application, and the page's own server. */
class RealPlay {
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
    this.#page = await startPage({ ...bed, cluster, examples });
  }

  async stop(): Promise<void> {
    await this.#page?.stop();
    await this.#stage?.close();
  }
}

/** `describeInBrowser` with a play of its own; it fails when a page complained. */
export function describePlay(
  name: string,
  tests: (browser: Opener, play: RealPlay) => void,
  options?: BrowserOptions,
): void {
  describeInBrowser(
    name,
    (browser) => {
      const play = new RealPlay();
      beforeAll(() => play.start());
      afterAll(async () => {
        await play.stop();
        expect(browser.complaints).toEqual([]);
      });
      tests(browser, play);
    },
    options,
  );
}
