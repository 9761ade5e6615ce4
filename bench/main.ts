/**
 * `npm run bench`: the figures of design.md section 10, each beside its baseline in the same run. The same file started
 * as `main.ts worker NAME` is one of the helper processes, so that a measured process holds nothing but what is measured.
 */
const [mode = '', name = ''] = process.argv.slice(2);

if (mode === 'worker') {
  const { serve } = await import('./workers/serve.ts');
  await serve(name);
} else {
  const { bench } = await import('./bench.ts');
  process.exitCode = await bench(process.argv.slice(2));
}
