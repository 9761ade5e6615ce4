"""A worker of a shop, whose broker is the Redis beside it."""
from celery import Celery

app = Celery('shop', broker='redis://127.0.0.1:6379/0', backend='redis://127.0.0.1:6379/0')


@app.task
def price(item):
    return len(item)


@app.on_after_configure.connect
def every_few_seconds(sender, **_):
    sender.add_periodic_task(10, price.s('apples'))
