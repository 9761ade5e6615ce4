// A shop that computes prices in a loop. HOT is the share of a core that the loop takes (0 to 1; default 0.4); with 1 the event loop
// never turns again.

const share = Number(process.env.HOT ?? '0.4');

function discount(price) {
  return (Math.sqrt(price) * Math.log(price)) % 7;
}

function recompute(prices) {
  let sum = 0;
  for (let price = 1; price < prices; price += 1) sum += discount(price);
  return sum;
}

function loopOverPrices() {
  const until = performance.now() + share * 100;
  let total = 0;
  while (share >= 1 || performance.now() < until) total += recompute(20_000);
  setTimeout(loopOverPrices, (1 - share) * 100);
  return total;
}

console.log('ready');
setTimeout(loopOverPrices, 100);
