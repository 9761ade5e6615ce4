// Wants about a third of a core all the time, which is more than its pod's limit gives it.
const BUSY_MS = 30;
const PERIOD_MS = 100;

process.stdin.resume().on('end', () => process.exit(0));
setInterval(() => {
  const end = performance.now() + BUSY_MS;
  while (performance.now() < end);
}, PERIOD_MS);
process.stdout.write('ready\n');
