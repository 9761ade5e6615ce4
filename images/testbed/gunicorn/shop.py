"""A small shop on WSGI: what it asks, it asks its upstream on port 9999, without a time limit."""

import http.client
import os
import threading
import time

import yaml

UPSTREAM = int(os.environ.get("UPSTREAM", "9999"))
STOCK = threading.Lock()
CATALOGUE = "\n".join(f"- {{name: item-{n}, price: {n}, tags: [a, b, c]}}" for n in range(2000))
kept = threading.local()


def price_from_upstream():
    """Over a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", UPSTREAM)
    try:
        connection.request("GET", "/price")
        return connection.getresponse().read()
    finally:
        connection.close()


def known_price():
    """Over a kept connection, as a pool has it."""
    if not hasattr(kept, "connection"):
        kept.connection = http.client.HTTPConnection("127.0.0.1", UPSTREAM)
    kept.connection.request("GET", "/price")
    return kept.connection.getresponse().read()


def reserve():
    with STOCK:
        return price_from_upstream()


def import_catalogue():
    until = time.monotonic() + 1800
    while time.monotonic() < until:
        yaml.safe_load(CATALOGUE)
    return b"imported"


PAGES = {
    "/shop": known_price,
    "/upstream": price_from_upstream,
    "/lock": reserve,
    "/busy": import_catalogue,
}


def app(environ, start_response):
    body = PAGES.get(environ["PATH_INFO"], lambda: b"ok")()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
