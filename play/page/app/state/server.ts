import type { Deed, DeedAnswer, RequestDetail } from '../../contract.ts';

/** Everything that the page asks of its server besides the event stream. */
export interface Server {
  /** Never rejects: a server that is away is an answer too. */
  do(deed: Deed): Promise<DeedAnswer>;
  request(id: string): Promise<RequestDetail>;
  eventsUrl(): string;
  fileUrl(id: string, as?: 'preview' | 'picture'): string;
  logUrl(of: { readonly namespace: string; readonly pod: string; readonly container: string }): string;
}

export function serverWith(token: string): Server {
  const at = (path: string, query: Record<string, string> = {}): string =>
    `${path}?${new URLSearchParams({ ...query, token })}`;
  return {
    async do(deed) {
      try {
        const response = await fetch('/deeds', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-play-token': token },
          body: JSON.stringify(deed),
        });
        return (await response.json()) as DeedAnswer;
      } catch {
        return { ok: false, error: 'The server did not answer. Nothing was sent.' };
      }
    },
    async request(id) {
      const response = await fetch(at(`/requests/${encodeURIComponent(id)}`));
      if (!response.ok) throw new Error(`The server answered ${response.status}.`);
      return (await response.json()) as RequestDetail;
    },
    eventsUrl: () => at('/events'),
    fileUrl: (id, as) => at(`/files/${encodeURIComponent(id)}`, as === undefined ? {} : { [as]: '' }),
    logUrl: (of) => at('/logs', { ...of }),
  };
}
