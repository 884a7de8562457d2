"""``python -m predicast``: the same as the command ``predicast``."""

from predicast.cli import main

if __name__ == "__main__":
    main()
