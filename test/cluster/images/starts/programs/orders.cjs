const net = require('node:net');

console.log('orders starts');
net.connect({ host: 'orders-db.shop.svc', port: 5432 }, () => console.log('connected'));
