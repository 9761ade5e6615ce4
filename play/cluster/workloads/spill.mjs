// Is calm for half a minute, then keeps what it should let go until the kernel ends it at its limit.
const CALM_MS = 30_000;
const MIB = 1024 * 1024;
const kept = [];

function keepEveryOrder() {
  kept.push(Buffer.alloc(MIB, kept.length + 1));
}

process.stdin.resume().on('end', () => process.exit(0));
setTimeout(() => setInterval(keepEveryOrder, 20), CALM_MS);
process.stdout.write('ready\n');
