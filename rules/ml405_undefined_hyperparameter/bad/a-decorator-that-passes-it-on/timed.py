import time
from functools import wraps


def timed(main):
    @wraps(main)
    def wrapper(cfg, *args):
        start = time.time()
        found = main(cfg, *args)
        print(time.time() - start)
        return found

    return wrapper
