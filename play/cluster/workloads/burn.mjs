// Ranks a catalogue over and over: about a third of a core all the time, which is more than its pod's limit gives it.
const BUSY_MICROS = 30_000;
const PERIOD_MS = 100;

const CATALOGUE = Array.from({ length: 40 }, (_, at) => `product ${at} of shelf ${at % 7}, in stock`);

function editDistance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function rankCatalogue(words) {
  return CATALOGUE.map((product) => ({ product, distance: editDistance(words, product) })).sort(
    (one, other) => one.distance - other.distance,
  );
}

/** Until it has used its share. In CPU time: on a busy machine it works the longer. */
function answerSearch() {
  const start = process.cpuUsage();
  for (;;) {
    rankCatalogue('a product of shelf five');
    const { user, system } = process.cpuUsage(start);
    if (user + system >= BUSY_MICROS) return;
  }
}

process.stdin.resume().on('end', () => process.exit(0));
setInterval(answerSearch, PERIOD_MS);
process.stdout.write('ready\n');
