"""Settings, or one sentence for each that is wrong."""

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, Secret, SecretBytes, SecretStr, ValidationError
from pydantic_core import ErrorDetails, PydanticUndefined

from servicekit.logging.redaction import MASK, Redactor
from servicekit.settings.environment import (
    FILE,
    PREFIX,
    SecretFileError,
    Settings,
    Variable,
    variable_name,
    variables,
)

AnySettings = TypeVar("AnySettings", bound=Settings)

_ALIKE: Final = 0.88
_SHOWN_CHARACTERS: Final = 80
# What has to be true of a value, by pydantic's names of what is wrong with it.
_HAS_TO_BE: Final = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "true or false",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_short": "a list of at least {min_length}",
}


class WrongSettings(Exception):
    """Settings are missing or wrong: `problems` has a sentence for each, without secrets."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def load_settings(kind: type[AnySettings]) -> AnySettings:
    """The settings, from the environment. Raises WrongSettings, which names every problem at once."""
    misspelt = tuple(_misspelt(kind, os.environ))
    try:
        loaded = kind()
    except ValidationError as error:
        problems = tuple(dict.fromkeys(_sentence(kind, detail) for detail in error.errors(include_url=False)))
        raise WrongSettings(problems + misspelt) from None
    except SecretFileError as error:
        raise WrongSettings((str(error), *misspelt)) from None
    if misspelt:
        raise WrongSettings(misspelt)
    return loaded


def shown(settings: BaseModel) -> dict[str, Any]:
    """The settings for a person to look at, by their variables' names; secrets masked."""
    return dict(_shown(settings, ()))


def secrets_of(settings: BaseModel) -> Iterator[str]:
    """Every secret in the settings: what a `Redactor` has to know."""
    for name in type(settings).model_fields:
        yield from _secrets_in(getattr(settings, name))


def _secrets_in(value: object) -> Iterator[str]:
    match value:
        case SecretBytes():
            yield value.get_secret_value().decode("utf-8", "replace")
        case SecretStr() | Secret():
            yield str(value.get_secret_value())
        case BaseModel():
            yield from secrets_of(value)
        case Mapping():
            for one in value.values():
                yield from _secrets_in(one)
        case tuple() | list() | set() | frozenset():
            for one in value:
                yield from _secrets_in(one)
        case _:
            return


def _shown(settings: BaseModel, inside: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from _shown(value, (*inside, name))
        else:
            has_secrets = next(_secrets_in(value), None) is not None
            yield variable_name((*inside, name)), MASK if has_secrets else value


def _sentence(kind: type[Settings], detail: ErrorDetails) -> str:
    location = tuple(step for step in detail["loc"] if isinstance(step, str))
    variable = _variable(kind, location)
    if variable is None:  # a group as a whole, or settings that do not go together
        name = variable_name(location) if location else "The settings"
        return f"{name}: {_reason(detail)}."
    if detail["type"] == "missing":
        return f"{variable.name} is not set{_advice(variable)}."
    return f"{variable.name} is {_got(variable)}, but {_reason(detail)}{_advice(variable)}."


def _variable(kind: type[Settings], location: tuple[str, ...]) -> Variable | None:
    # What is wrong may lie deeper, inside a value of several parts.
    return next((one for one in variables(kind) if location[: len(one.location)] == one.location), None)


def _advice(variable: Variable) -> str:
    meaning = " ".join((variable.field.description or "").split()).rstrip(".")
    return f": set it to {meaning}" if meaning else ""


def _got(variable: Variable) -> str:
    value = os.environ.get(variable.name)
    if variable.is_secret:
        return MASK if value or os.environ.get(variable.name + FILE) else "not set"
    if not value:
        default = variable.field.get_default(call_default_factory=True, validated_data={})
        return "not set" if default is None or default is PydanticUndefined else f"not set and so {default!r}"
    # Somebody may have put a secret where none belongs.
    text = Redactor().text(value)
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


def _reason(detail: ErrorDetails) -> str:
    context = detail.get("ctx") or {}
    if detail["type"] == "value_error":  # raised by our own checks, which show no values
        return str(context.get("error", detail["msg"])).rstrip(".")
    wanted = _HAS_TO_BE.get(detail["type"])
    if wanted is None:
        return detail["msg"][:1].lower() + detail["msg"][1:]
    bounds = {name: f"{one:g}" if isinstance(one, float) else one for name, one in context.items()}
    return f"it has to be {wanted.format(**bounds)}"


def _misspelt(kind: type[Settings], environment: Mapping[str, str]) -> Iterator[str]:
    """Variables that nothing reads, and that look like one that could be set and is not."""
    known = {name for one in variables(kind) for name in (one.name, one.name + FILE * one.is_secret)}
    unset = sorted(name.removeprefix(PREFIX) for name in known if not environment.get(name))
    for name in sorted(environment):
        if name.upper().startswith(PREFIX) and name not in known:
            alike = difflib.get_close_matches(name.upper().removeprefix(PREFIX), unset, n=1, cutoff=_ALIKE)
            if alike:
                meant = f"{PREFIX}{alike[0]}"
                yield f"{name} is set, and nothing reads it: did you mean {meant}? Rename or unset it."
