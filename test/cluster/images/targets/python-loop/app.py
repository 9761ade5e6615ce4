"""A shop that computes prices in a loop while a worker waits for a lock that nobody gives back.

HOT is the share of a core that the loop takes (0 to 1; default 0.4).
"""

import math
import os
import threading
import time

STOCK = threading.Lock()


def count_stock():
    with STOCK:
        print("a count", flush=True)


def discount(price):
    return math.sqrt(price) * math.log(price) % 7


def recompute(prices):
    return sum(discount(price) for price in range(1, prices))


def loop_over_prices(share):
    while True:
        until = time.monotonic() + share / 10
        while time.monotonic() < until:
            recompute(2_000)
        if share < 1:
            time.sleep((1 - share) / 10)


if __name__ == "__main__":
    STOCK.acquire()
    threading.Thread(target=count_stock, name="stock-worker", daemon=True).start()
    print("ready", flush=True)
    loop_over_prices(float(os.environ.get("HOT", "0.4")))
