/** What a worker gives back, and what is to be done when nobody needs it any more. */
export interface Served<Result> {
  readonly result: Result;
  readonly stop?: () => Promise<void>;
}
