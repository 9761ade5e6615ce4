'use strict';
// A small shop on express: what it asks, it asks its upstream on port 9999, without a time limit.
const http = require('node:http');
const v8 = require('node:v8');
const vm = require('node:vm');
const express = require('express');

const upstream = Number(process.env.UPSTREAM ?? 9999);
const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 4 });
const cache = [];

function askUpstream(agent, answer) {
  http
    .get({ host: '127.0.0.1', port: upstream, path: '/price', agent }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => answer.send(text));
    })
    .on('error', (error) => answer.status(502).send(String(error)));
}

/** Backtracks for hours on a name that does not end as it should. */
function checkName(name) {
  return /^(\w+\s?)*$/.test(name);
}

/** Keeps what it sees until the heap holds so many MiB. */
function remember(megabytes) {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  const isFull = () => process.memoryUsage().heapUsed > megabytes * 2 ** 20;
  for (let row = 0; ; row += 1) {
    cache.push({ id: row, name: `item ${row}`, tags: [`a${row}`, `b${row}`] });
    if (row % 1000 !== 0 || !isFull()) continue;
    collect();
    if (isFull()) return;
  }
}

const pages = [];

/** A page of rows that is kept for four requests, long enough to reach the old generation. */
function churn() {
  const rows = [];
  for (let row = 0; row < 12_000; row += 1) rows.push({ id: row, name: `item ${row}` });
  pages.push(rows);
  if (pages.length > 4) pages.shift();
  return rows.length;
}

const app = express();
app.get('/shop', (_request, response) => askUpstream(keepAlive, response));
app.get('/upstream', (_request, response) => askUpstream(undefined, response));
app.get('/busy', (_request, response) =>
  response.send(String(checkName('a very long name of a customer of this shop and more of it!'))),
);
app.get('/churn', (_request, response) => response.send(String(churn())));
app.get('/', (_request, response) => response.send('ok'));
app.get('/ok', (_request, response) => response.send('ok'));
app.listen(8080, () => process.stdout.write('ready\n'));

const megabytes = Number(process.env.REMEMBER_MIB ?? 0);
if (megabytes > 0) remember(megabytes);
