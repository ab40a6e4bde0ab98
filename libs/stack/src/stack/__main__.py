"""`python -m stack`."""

import sys

from stack.command_line import main

sys.exit(main(sys.argv[1:]))
