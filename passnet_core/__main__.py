"""python -m passnet_core: the command line."""

import sys

from passnet_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
