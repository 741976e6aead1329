"""`python -m remanence` does what the command does."""

from .cli import main


if __name__ == "__main__":
    main()
