import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredFile } from '../../../slack/index.ts';
import { openPage, type PageBed } from './open-page.ts';

const HOSTILE = '<html><script>alert(document.domain)</script>\n';

let page: PageBed;
const folder = mkdtempSync(join(tmpdir(), 'kdebug-page-'));
beforeAll(async () => {
  page = await openPage();
});
afterAll(async () => {
  await page?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function put(id: string, name: string, content: string, state: StoredFile['state'] = 'complete'): void {
  const path = join(folder, id);
  writeFileSync(path, content);
  const size = Buffer.byteLength(content);
  page.bed.slack.state.files.set(id, { id, name, title: name, size, createdAtMs: 0, path, state, shares: [] });
}

describe('a file', () => {
  it('is downloaded whole, under its name, and never shown as a page of ours', async () => {
    put('F1', 'run.html', HOSTILE);
    const response = await page.get('/files/F1');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="run.html"; filename*=UTF-8''run.html`,
    );
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(await response.text()).toBe(HOSTILE);
  });

  it('keeps a name that would break the header out of it', async () => {
    put('F2', 'ä"\r\nset-cookie: a=b;\'*.log', 'x');
    const response = await page.get('/files/F2');
    await response.text();
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="____set-cookie__a_b___.log"; filename*=UTF-8''%C3%A4%22%0D%0Aset-cookie%3A%20a%3Db%3B%27%2a.log`,
    );
  });

  it('is previewed as plain text: 16 KiB, and no half character at its end', async () => {
    put('F3', 'long.log', `x${'ä'.repeat(20_000)}`);
    const response = await page.get('/files/F3?preview');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe(`x${'ä'.repeat(8191)}`);
  });

  it('is a picture if it is a .png, not an .svg, as in Slack: for an <img>, a download otherwise, and never a page of ours', async () => {
    put('F6', 'kdebug-a.cpu.png', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const response = await page.get('/files/F6?picture');
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; /);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    await response.text();
    put('F7', 'run.html', HOSTILE);
    put('F8', 'half.png', 'x', 'uploaded');
    put('F9', 'kdebug-a.cpu.svg', '<svg/>');
    for (const id of ['F7', 'F8', 'F9', 'F99']) expect((await page.get(`/files/${id}?picture`)).status).toBe(404);
  });

  it('that is not complete, or not there, is not found', async () => {
    put('F4', 'half.log', 'x', 'uploaded');
    for (const id of ['F4', 'F99', '..%2F..%2Fetc%2Fpasswd', '__proto__'])
      expect((await page.get(`/files/${id}`)).status).toBe(404);
  });

  it('shows the page its name and size, not where it lies', async () => {
    put('F5', 'a.log', 'abc');
    const { files } = await page.snapshot();
    expect(files.find(({ id }) => id === 'F5')).toEqual({
      id: 'F5',
      name: 'a.log',
      title: 'a.log',
      size: 3,
      state: 'complete',
    });
  });
});

describe('a log', () => {
  it('is followed from its start until its container ends, as plain text', async () => {
    const script = `echo '${HOSTILE.trim()}'; sleep 1; echo second`;
    page.cluster.addPod({
      name: 'talker',
      namespace: 'shop',
      restartPolicy: 'Never',
      containers: [{ name: 'app', image: 'busybox', command: ['sh', '-c', script] }],
    });
    const stream = await page.stream();
    // A busy machine may see it only when it has ended.
    await stream.until(
      (change) =>
        change.kind === 'pod' && change.pod.name === 'talker' && change.pod.containers[0]?.state !== 'waiting',
    );
    await stream.close();
    const response = await page.get('/logs?namespace=shop&pod=talker&container=app');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(`${HOSTILE}second\n`);
  });

  it.each([
    ['namespace=shop&pod=pod-1234&container=nothing', 'The container nothing has not started yet.'],
    ['namespace=shop&pod=nothing&container=web', 'no pod nothing in namespace shop'],
  ])('that cannot be read says why: %s', async (query, why) => {
    const response = await page.get(`/logs?${query}`);
    expect([response.status, await response.text()]).toEqual([409, why]);
  });
});
