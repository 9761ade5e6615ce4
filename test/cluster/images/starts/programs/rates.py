import logging
import urllib.request

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
logging.info("loading rates")
with urllib.request.urlopen("https://127.0.0.1:8443/rates") as answer:
    logging.info("rates: %s", answer.read())
