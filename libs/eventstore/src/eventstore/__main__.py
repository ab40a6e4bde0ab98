"""`python -m eventstore`: what people do about followers and projections."""

import sys

from eventstore.command_line import main

if __name__ == "__main__":
    sys.exit(main())
