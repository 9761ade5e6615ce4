// Keeps what it should have let go: grows to a fixed size in a second or two, then stays there.
const LIMIT_MIB = 76;
const kept = [];

process.stdin.resume().on('end', () => process.exit(0));
const timer = setInterval(() => {
  kept.push(Buffer.alloc(4 * 1024 * 1024, kept.length));
  if (kept.length * 4 < LIMIT_MIB) return;
  clearInterval(timer);
  process.stdout.write('ready\n');
}, 5);
