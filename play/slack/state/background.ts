/** What Slack does some time after its answer: sharing files. */
export class Background {
  /** Milliseconds of the real clock; may be changed at any time. */
  delayMs: number;
  private readonly waiting = new Map<() => void, NodeJS.Timeout>();

  constructor(delayMs: number) {
    this.delayMs = delayMs;
  }

  run(work: () => void): void {
    const timer = setTimeout(() => this.done(work), this.delayMs);
    this.waiting.set(work, timer);
  }

  /** Does everything that waits, now. */
  flush(): void {
    for (const work of [...this.waiting.keys()]) this.done(work);
  }

  stop(): void {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }

  private done(work: () => void): void {
    clearTimeout(this.waiting.get(work));
    if (this.waiting.delete(work)) work();
  }
}
