"""Run the command line: python -m passnet_core."""

import sys

from passnet_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
