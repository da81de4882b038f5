"""`python -m matchwork` is the command `matchwork`."""

from matchwork.cli.main import run

if __name__ == "__main__":
    run()
