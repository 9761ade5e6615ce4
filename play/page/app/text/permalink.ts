/** A message as its link names it. */
export interface Linked {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
}

/** Reads the link of a message of this workspace (`https://DOMAIN.slack.com/archives/C…/p…`); nothing for any other address. */
export function readPermalink(address: string, domain: string): Linked | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.host !== `${domain}.slack.com`) return undefined;
  const found = /^\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})$/.exec(url.pathname);
  if (found?.[1] === undefined) return undefined;
  const threadTs = url.searchParams.get('thread_ts');
  const place = { channel: found[1], ts: `${found[2]}.${found[3]}` };
  return threadTs === null || threadTs === place.ts ? place : { ...place, threadTs };
}
