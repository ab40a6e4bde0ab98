"""`python -m messaging`."""

import sys

from messaging.command_line import main

if __name__ == "__main__":
    sys.exit(main())
