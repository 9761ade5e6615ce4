"""A small shop on ASGI: what it asks, it asks its upstream on port 9999, without a time limit."""

import asyncio
import http.client

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI(default_response_class=PlainTextResponse)


def price_from_upstream():
    connection = http.client.HTTPConnection("127.0.0.1", 9999)
    try:
        connection.request("GET", "/price")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


async def price_in_the_loop():
    reader, writer = await asyncio.open_connection("127.0.0.1", 9999)
    writer.write(b"GET /price HTTP/1.1\r\nHost: prices\r\n\r\n")
    answer = await reader.read(1000)
    writer.close()
    return answer.decode()


def sum_orders():
    total = 0
    for order in range(10**12):
        total += order % 7
    return str(total)


@app.get("/ok")
async def ok():
    return "ok"


@app.get("/shop")
async def shop():
    return await price_in_the_loop()


@app.get("/upstream")
async def upstream():
    return await price_in_the_loop()


@app.get("/pool")
def pool():
    """In a thread: not a coroutine."""
    return price_from_upstream()


@app.get("/blocked")
async def blocked():
    """The mistake: it waits in the loop itself."""
    return price_from_upstream()


@app.get("/busy")
async def busy():
    return sum_orders()
