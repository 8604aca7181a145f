"""``python -m glissando``: the command line, also for ``torchrun -m glissando``."""

from glissando.cli import main

if __name__ == "__main__":
    main()
