"""The arguments of each command. Wrong ones are a `Failure`, a question for help is `HelpAsked`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from functools import partial
from typing import Final, NoReturn

from rules_core.command_line.failure import Failure

PROGRAM: Final = "python -m rules_core"
PLAYERS_MAX: Final = 10_000
SCALES: Final = range(9)
_NUMBER: Final = re.compile("[0-9]{1,18}")
_CASE: Final = "file with a settlement case, or - for standard input"


class HelpAsked(Exception):
    """`text` is the help that was asked for."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


# Of one width everywhere; asking the terminal for its own would import more than most commands need.
_formatter: Final = partial(argparse.HelpFormatter, width=100)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure("usage", f"{message} (see: {self.prog} --help)")


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise HelpAsked(parser.format_help())


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command and its options; `command` is its name. Raises Failure or HelpAsked."""
    options = _parser().parse_args(arguments)
    if options.command == "settle" and options.jsonl == (options.case is not None):
        raise Failure("usage", f"give either a case or --jsonl (see: {PROGRAM} settle --help)")
    return options


def _parser() -> _Parser:
    parser = _Parser(
        prog=PROGRAM,
        description="Russian Poker: settle, explain, play and verify. Amounts are integers in minor units.",
        epilog="Exit status: 0 done, 1 a bundle disagrees, 2 bad input: a JSON error on standard output.",
        formatter_class=_formatter,
        add_help=False,
        allow_abbrev=False,
    )
    _add_help(parser)
    commands = parser.add_subparsers(prog=PROGRAM, dest="command", metavar="COMMAND", required=True)

    def command(name: str, says: str) -> _Parser:
        added = commands.add_parser(
            name,
            help=says,
            description=says,
            formatter_class=_formatter,
            add_help=False,
            allow_abbrev=False,
        )
        _add_help(added)
        return added

    settle = command("settle", "settle a case, or one case a line with --jsonl")
    settle.add_argument("case", nargs="?", metavar="CASE", help=_CASE)
    settle.add_argument(
        "--jsonl", action="store_true", help="cases from standard input, a line each; a result a line"
    )
    evaluate = command("evaluate", "the best hand of five or six cards and its paid combinations")
    evaluate.add_argument("cards", nargs="+", metavar="CARDS", help='as "Ah Ad Kc 7s 3d"')
    evaluate.add_argument(
        "--paired-straight",
        choices=("two_straights", "straight_and_pair"),
        default="two_straights",
        help="what six cards with a straight whose one rank is paired are paid for (default: two_straights)",
    )
    rulesets = command("rulesets", "list the rulesets, or print one with its sha256")
    rulesets.add_argument("id", nargs="?", metavar="ID", help="as live-shared@1")
    verify = command("verify", "run a recorded round again and compare: status 0 agreed, 1 disagreed")
    verify.add_argument("bundle", metavar="BUNDLE", help="file with a bundle, or - for standard input")
    verify.add_argument("--json", action="store_true", help="print the report as JSON")
    explain = command("explain", "a settlement in plain English")
    explain.add_argument("case", metavar="CASE", help=_CASE)
    explain.add_argument("--player", metavar="ID", help="only the boxes of this player")
    explain.add_argument(
        "--scale",
        type=int,
        choices=SCALES,
        metavar="DIGITS",
        help="show amounts with so many digits after the point, 0 to 8 (default: in minor units)",
    )
    explain.add_argument("--currency", default="", metavar="CODE", help="currency to name beside them")
    play = command("play", "play a random legal round and print its bundle")
    play.add_argument("--ruleset", required=True, metavar="ID", help="as live-shared@1")
    play.add_argument("--seed", required=True, type=_number, metavar="N", help="same seed, same round")
    play.add_argument(
        "--players", type=_number, metavar="P", help="how many (default: 3, or one a box if those are fewer)"
    )
    demo = command("demo", "play, explain and verify one round of each ruleset")
    demo.add_argument("--seed", default=60, type=_number, metavar="N", help="other rounds (default: 60)")
    return parser


def _add_help(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this and stop")


def _number(text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number of up to 18 digits")
    return int(text)
