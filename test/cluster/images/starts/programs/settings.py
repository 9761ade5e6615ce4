import logging
import os

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
logging.info("reading settings")
DATABASE = os.environ["DATABASE_URL"]
