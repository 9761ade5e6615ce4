import { test } from 'vitest';
import { LogScene } from '../support/log-scene.ts';
test('x', async () => {
  const scene = new LogScene({ request: { terminated: true } });
  const k: any = scene.kubelet; const st = k.stream.bind(k); k.stream = (r: any, e: any) => { console.log('stream', r.query); return st(r, { opened: () => { console.log('opened'); e.opened(); }, data: (c: any) => { console.log('data', c.length); e.data(c); }, ended: (x: any) => { console.log('ended', x); e.ended(x); } }); };
  for (let i = 0; i < 3; i++) scene.kubelet.write('a' + i);
  await scene.end(0);
  console.log(await scene.finish(), scene.content);
});
