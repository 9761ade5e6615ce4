import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, type PageBed } from './open-page.ts';

let page: PageBed;
beforeAll(async () => {
  page = await openPage();
});
afterAll(() => page?.stop());

const PATHS = ['/', '/app.js', '/app.css', '/events', '/files/F1', '/logs?namespace=shop', '/requests/R1'];
const deed = JSON.stringify({ kind: 'open-direct', user: 'U0ROY' });

describe('who may ask', () => {
  it.each(PATHS)('nobody without the token: %s', async (path) => {
    expect(await page.raw(path)).toMatchObject({ status: 401 });
    const wrong = `${path}${path.includes('?') ? '&' : '?'}token=${'A'.repeat(page.token.length)}`;
    expect(await page.raw(wrong)).toMatchObject({ status: 401 });
  });

  it('no deed without the token', async () => {
    const headers = { 'content-type': 'application/json' };
    expect(await page.raw('/deeds', { method: 'POST', headers, body: deed })).toMatchObject({ status: 401 });
    expect(page.bed.slack.team.channels.D00ROY).toBeUndefined();
  });

  it.each(['evil.example', 'evil.example:80', '127.0.0.1', '127.0.0.1:1'])(
    'no name that was resolved to us: “%s”',
    async (host) => {
      const asked = await page.raw(`/?token=${page.token}`, { headers: { host } });
      expect(asked.status).toBe(403);
      expect(asked.text).not.toContain(page.token);
    },
  );

  it.each(['https://evil.example', 'null', 'http://127.0.0.1:1'])('no page of another origin: %s', async (origin) => {
    const headers = { origin, 'content-type': 'application/json', 'x-play-token': page.token };
    expect(await page.raw('/deeds', { method: 'POST', headers, body: deed })).toMatchObject({ status: 403 });
  });

  it('our own page, by either of its names', async () => {
    expect(await page.raw(`/?token=${page.token}`)).toMatchObject({ status: 200 });
    const localhost = { host: `localhost:${page.port}`, origin: `http://localhost:${page.port}` };
    expect(await page.raw(`/?token=${page.token}`, { headers: localhost })).toMatchObject({ status: 200 });
  });

  it('listens on loopback only', () => {
    expect(new URL(page.page.url).hostname).toBe('127.0.0.1');
  });
});

describe('what the browser is told', () => {
  it.each([...PATHS, '/nothing'])('on every answer, refusals too: %s', async (path) => {
    for (const token of ['', page.token]) {
      const asked = await fetch(`http://127.0.0.1:${page.port}${path}`, { headers: { 'x-play-token': token } });
      await asked.body?.cancel();
      const policy = asked.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(asked.headers.get('x-content-type-options')).toBe('nosniff');
      expect(asked.headers.get('referrer-policy')).toBe('no-referrer');
      expect([...asked.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('gets a page with nothing but our script and our style', async () => {
    const { text, headers } = await page.raw(`/?token=${page.token}`);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text.match(/(?:src|href)="[^"]*"/g)).toEqual([
      'href="data:,"',
      `href="/app.css?token=${page.token}"`,
      `src="/app.js?token=${page.token}"`,
    ]);
    expect((await page.get('/app.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });
});

describe('a deed', () => {
  const post = (body: string, type = 'application/json') =>
    page.raw('/deeds', { method: 'POST', headers: { 'content-type': type, 'x-play-token': page.token }, body });

  it('is JSON and nothing that a form can send', async () => {
    expect((await post(deed, 'text/plain')).status).toBe(415);
    expect((await post('{', 'application/json')).status).toBe(400);
  });

  it.each([
    '{}',
    '{"kind":"fly"}',
    '{"kind":"type","user":"U0ROY","channel":"C0SHOP"}',
    '{"kind":"open-direct","user":"U0ROY","more":1}',
    '{"kind":"react","user":"U0ROY","channel":"C0SHOP","ts":"1","name":"<b>"}',
  ])('of no known shape is refused: %s', async (body) => {
    expect((await post(body)).status).toBe(400);
  });

  it('is at most 1 MiB', async () => {
    expect((await post(JSON.stringify({ text: 'x'.repeat(1024 * 1024) }))).status).toBe(413);
  });
});
