'use strict';
// A shop on Fastify with its own logger; what it uses of an old package is deprecated.
const app = require('fastify')({ logger: true });

app.get('/ok', async () => Buffer(`ok`).toString());
app.get('/order', async () => {
  throw new Error('no such order');
});
app.listen({ host: '0.0.0.0', port: 8080 });
