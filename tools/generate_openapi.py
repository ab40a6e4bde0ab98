"""Write docs/openapi.json: the platform API, from the routes and models that the gateway serves.

`--check` writes nothing: it exits with 1 when the file is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from upcard_gateway.entrypoints.http.app import api

FILE: Final = Path(__file__).resolve().parents[1] / "docs" / "openapi.json"


def document() -> dict[str, Any]:
    """The description of the API, as the gateway answers it at `/v1/openapi.json`."""
    return api().openapi()


def rendered() -> str:
    """The whole file."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    wanted = rendered()
    if not parser.parse_args(arguments).check:
        FILE.write_text(wanted, encoding="utf-8")
        return 0
    if FILE.exists() and FILE.read_text(encoding="utf-8") == wanted:
        return 0
    print("docs/openapi.json is not what the gateway serves: run python -m tools.generate_openapi")
    return 1


if __name__ == "__main__":
    sys.exit(main())
