"""`python -m upcard_operate`: the same as `upcard`."""

from upcard_operate.main import main

if __name__ == "__main__":
    main()
