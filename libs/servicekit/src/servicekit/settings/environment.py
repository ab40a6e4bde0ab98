"""Reading settings from the environment, and from files that it names for secrets."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, Secret, SecretBytes, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

PREFIX: Final = "UPCARD_"
NESTED: Final = "__"
"""Between the name of a group and that of one of its settings."""
FILE: Final = "_FILE"
"""After the name of a secret: a file that holds it, as container platforms mount them."""
LARGEST_FILE_BYTES: Final = 65_536

SECRETS: Final = (SecretStr, SecretBytes, Secret)
Tree = dict[str, Any]
Location = tuple[str, ...]


class SecretFileError(ValueError):
    """A secret's file cannot be read, or the secret is given twice."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the environment that a program reads."""

    name: str
    location: Location
    field: FieldInfo

    @property
    def is_secret(self) -> bool:
        """Whether its value must not be shown."""
        return _has_secrets(self.field.annotation)

    def parsed(self, text: str) -> Any:  # noqa: ANN401 - pydantic judges it
        """A text as what the setting may take: several values with commas between, or as JSON."""
        origins = {get_origin(kind) for kind in _kinds(self.field.annotation)}
        if text[:1] in "[{" and origins & {list, tuple, set, frozenset, dict}:
            try:
                return json.loads(text)
            except ValueError:
                return text
        if origins & {list, tuple, set, frozenset}:
            return [part.strip() for part in text.split(",") if part.strip()]
        return text


def _kinds(annotation: object) -> tuple[object, ...]:
    if get_origin(annotation) in {Union, UnionType}:
        return tuple(kind for one in get_args(annotation) for kind in _kinds(one))
    if get_origin(annotation) is Annotated:
        return _kinds(get_args(annotation)[0])
    return (annotation,)


def _has_secrets(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, SECRETS):
        return True
    return any(_has_secrets(inner) for inner in get_args(annotation))


def _group(field: FieldInfo) -> type[BaseModel] | None:
    """The class of a group of settings, if a field is one."""
    for kind in _kinds(field.annotation):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def variable_name(location: Location) -> str:
    """The variable that a setting is read from."""
    return PREFIX + NESTED.join(location).upper()


def variables(kind: type[BaseModel], inside: Location = ()) -> Iterator[Variable]:
    """Every variable that settings of this kind are read from."""
    for name, field in kind.model_fields.items():
        location = (*inside, name)
        group = _group(field)
        if group is None:
            yield Variable(variable_name(location), location, field)
        else:
            yield from variables(group, location)


def given(kind: type[BaseModel], environment: Mapping[str, str]) -> Tree:
    """What the environment says, as texts. An empty value counts as none. Raises SecretFileError."""
    tree: Tree = {}
    for variable in variables(kind):
        value = environment.get(variable.name) or None
        if variable.is_secret:
            value = _with_file(variable.name, value, environment.get(variable.name + FILE))
        if value is not None:
            at = tree
            for step in variable.location[:-1]:
                at = at.setdefault(step, {})
            at[variable.location[-1]] = variable.parsed(value)
    return tree


def _with_file(name: str, value: str | None, file: str | None) -> str | None:
    if not file:
        return value
    if value is not None:
        raise SecretFileError(f"{name} and {name}{FILE} are both set: unset one of them.")
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(LARGEST_FILE_BYTES + 1)
        text = data.decode().rstrip("\r\n")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise SecretFileError(
            f"{name}{FILE} names a file that cannot be read ({why}): name a file that holds the secret."
        ) from None
    if len(data) > LARGEST_FILE_BYTES or not text:
        size = "empty" if not text else f"longer than {LARGEST_FILE_BYTES} bytes"
        raise SecretFileError(
            f"{name}{FILE} names a file that is {size}: name a file that holds the secret and nothing else."
        )
    return text


class EnvironmentSource(PydanticBaseSettingsSource):
    """The environment, as a source of pydantic-settings."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Not used: all fields are read together."""
        return None, field_name, field is not None

    def __call__(self) -> Tree:
        """What the environment says."""
        return given(self.settings_cls, os.environ)


class Settings(BaseSettings):
    """Base of all settings: read from `UPCARD_…`, never changed afterwards, secrets never shown."""

    model_config = {
        "frozen": True,
        "extra": "forbid",
        "validate_default": True,
        "hide_input_in_errors": True,
        "str_strip_whitespace": True,
    }

    @classmethod
    def settings_customise_sources(  # what pydantic-settings calls
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced by ours
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - no files that change what a shell says
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - ours are named one by one
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment."""
        return init_settings, EnvironmentSource(settings_cls)
