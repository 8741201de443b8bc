from blocks import run
from jsonargparse import CLI

if __name__ == "__main__":
    CLI(run)
