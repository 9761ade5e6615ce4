import { test } from 'vitest';
import { Succession } from '../../../../src/adapters/kubernetes/log/succession.ts';
import { LogStreams } from '../../../../src/adapters/kubernetes/log/log-streams.ts';
import { Merge } from '../../../../src/adapters/kubernetes/log/merge.ts';
import { LogScene } from '../support/log-scene.ts';
import { aWriter, live } from '../support/log-writer.ts';
import { appendFileSync, writeFileSync } from 'node:fs';
import { format } from 'node:util';
writeFileSync('/tmp/dbg.out', '');
const out = (...x: unknown[]) => appendFileSync('/tmp/dbg.out', format(...x) + '\n');
const seed = Number(process.env.SEED);
test('dbg', async () => {
  const t0 = Date.UTC(2026, 10, 21, 7, 30, 0);
  let scene: LogScene;
  const at = () => ((scene?.clock.now() ?? t0) - t0) / 1000;
  const st = (s: any) => s && `${(s.seconds * 1000 + s.nanos / 1e6 - t0) / 1000}`;
  const ids = new Map<any, number>();
  const id = (s: any) => { if (!s) return '-'; if (!ids.has(s)) ids.set(s, ids.size + 1); return `#${ids.get(s)}[since ${s.sinceSeconds ? s.sinceSeconds - t0 / 1000 : '-'} first ${st(s.first[0])}${s.follow ? '' : ' FINAL'}]`; };
  for (const m of ['open', 'advance', 'drop', 'fail'] as const) {
    const old = (LogStreams.prototype as any)[m];
    (LogStreams.prototype as any)[m] = function (x: any) { const r = old.call(this, x); out(at(), m, typeof x === 'string' ? x + ' ' + id(this.newest) : id(x ?? r)); return r; };
  }
  for (const m of ['startOver', 'startAfter'] as const) {
    const old = (Merge.prototype as any)[m];
    (Merge.prototype as any)[m] = function (x: any) { out(at(), m, JSON.stringify(x.broken ?? x), 'newest', this.hasAny && st(this.newest)); return old.call(this, x); };
  }
  scene = new LogScene({ seed });
  const rot = scene.kubelet.rotate.bind(scene.kubelet);
  scene.kubelet.rotate = () => { rot(); out(at(), 'ROTATE, written lines', scene.kubelet.written.length); };
  const writer = aWriter(scene.random);
  out(writer.rates.map((x) => Math.round(x / 1000)).join(' '), 'read', writer.readBytesPerSecond, writer.cutsLines);
  await live(scene, writer);
  out(at(), 'END');
  await scene.end();
  const c = await scene.finish(writer.readBytesPerSecond);
  const a = scene.content, b = scene.truth;
  let i = 0; while (i < a.length && a[i] === b[i]) i++;
  out(JSON.stringify(c), a.length, b.length, i, '\nGOT', JSON.stringify(a.slice(i - 150, i + 200)), '\nTRUE', JSON.stringify(b.slice(i - 150, i + 200)));
});
