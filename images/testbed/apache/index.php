<?php
// A small shop on PHP, eight processes: what it asks, it asks its upstream on port 9999, without a time limit.
ini_set('default_socket_timeout', '-1');
set_time_limit(0);

function price_from_upstream(): string
{
    $socket = stream_socket_client('tcp://127.0.0.1:9999');
    stream_set_timeout($socket, 3000);
    fwrite($socket, "GET /price HTTP/1.1\r\nHost: prices\r\n\r\n");
    $answer = fread($socket, 1000);
    fclose($socket);
    return $answer;
}

function reserve(): string
{
    $stock = fopen('/tmp/stock.lock', 'c');
    flock($stock, LOCK_EX);
    $price = price_from_upstream();
    flock($stock, LOCK_UN);
    return $price;
}

function sum_orders(): string
{
    for ($order = 0, $sum = 0; $order < 1e15; $order++) {
        $sum += $order % 7;
    }
    return (string) $sum;
}

header('Content-Type: text/plain');
echo match (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    '/shop', '/upstream' => price_from_upstream(),
    '/lock' => reserve(),
    '/busy' => sum_orders(),
    default => 'ok',
};
