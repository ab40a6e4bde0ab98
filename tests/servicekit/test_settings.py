"""Settings: what is read, and the sentence for each thing that is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, SecretBytes, SecretStr, ValidationError

from servicekit.lifecycle import ExitCode
from servicekit.settings import (
    BrokerSettings,
    DatabaseSettings,
    ServiceSettings,
    Settings,
    WrongSettings,
    load_settings,
    secrets_of,
    shown,
)
from tests.servicekit.programs import ROOT, clean_environment

DSN = "postgresql://upcard:correct-horse@db.example:5432/table"


class Listening(BaseModel):
    """A group of settings."""

    port: int = Field(0, ge=0, le=65_535, description="a port")
    key: SecretStr | None = None


class Everything(ServiceSettings, DatabaseSettings, BrokerSettings):
    """All that there is, and a group."""

    grpc: Listening = Field(default_factory=lambda: Listening(port=0))


Set = pytest.MonkeyPatch


@pytest.fixture
def environment(monkeypatch: Set) -> Set:
    """No settings but the two that have to be there."""
    for name in list(os.environ):
        if name.startswith("UPCARD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("UPCARD_DSN", DSN)
    monkeypatch.setenv("UPCARD_KAFKA_BOOTSTRAP", "one:9092, two:9093")
    return monkeypatch


def problems() -> tuple[str, ...]:
    with pytest.raises(WrongSettings) as caught:
        load_settings(Everything)
    return caught.value.problems


def test_what_is_set_is_read(environment: Set) -> None:
    environment.setenv("UPCARD_METRICS_PORT", "9464")
    environment.setenv("UPCARD_LOG_LEVEL", "WARNING")
    environment.setenv("UPCARD_GRPC__PORT", "7000")
    environment.setenv("UPCARD_STOP_DELAY_S", "")  # as a compose file leaves it: not set
    loaded = load_settings(Everything)
    assert loaded.dsn.get_secret_value() == DSN
    assert loaded.kafka_bootstrap == ("one:9092", "two:9093")
    assert (loaded.metrics_port, loaded.log_level, loaded.grpc.port) == (9464, "warning", 7000)
    assert (loaded.stop_delay_s, loaded.clock_skew_max_ms) == (0.0, 100)


@pytest.mark.usefixtures("environment")
def test_settings_never_change() -> None:
    loaded = load_settings(Everything)
    with pytest.raises(ValidationError):
        loaded.metrics_port = 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DSN", None, "is not set: set it to the address of the service's database, such as postgresql://"),
        ("DSN", "", "is not set"),
        (
            "DSN",
            "mysql://a:bcdef@h/d",
            "is [masked], but it does not begin with postgres:// or postgresql://",
        ),
        ("DSN", "postgresql:///d", "it names no host"),
        ("DSN", "postgresql://a:bcdef@h", "it names no database"),
        ("DSN", "postgresql://a:bcdef@h/", "it names no database"),
        ("DSN", "postgresql://a:bcdef@h:x/d", "it is not an address"),
        ("DSN", "postgresql://a:bcdef@h:0/d", "its port is 0"),
        ("DSN", "postgresql://[::1/d", "it is not an address"),
        ("DSN", "postgresql://a:bcdef@one:1,two:0/d", "its port is 0"),
        ("DSN", "postgresql://a:bcdef@one,,two/d", "it names no host"),
        ("DSN", "postgresql://a:bcdef@one two/d", "it is not an address"),
        ("DATABASE_POOL_MAX", "many", "is 'many', but it has to be a whole number"),
        ("DATABASE_POOL_MAX", "16.5", "it has to be a whole number"),
        ("DATABASE_POOL_MAX", "4", "it has to be at least 5"),
        ("DATABASE_POOL_MIN", "17", "UPCARD_DATABASE_POOL_MAX is not set and so 16, but it is less than"),
        ("CLOCK_SKEW_MAX_MS", "0", "it has to be at least 1"),
        ("SHARD_HELD_ALARM_S", "0", "it has to be more than 0"),
        ("KAFKA_BOOTSTRAP", None, "is not set: set it to brokers to ask first"),
        ("KAFKA_BOOTSTRAP", " , ", "it has to be a list of at least 1"),
        ("KAFKA_BOOTSTRAP", "one", "each broker has to be host:port"),
        ("KAFKA_BOOTSTRAP", "one:9092,two:99999", "each broker has to be host:port"),
        ("KAFKA_BOOTSTRAP", "kafka://one:9092", "each broker has to be host:port"),
        ("KAFKA_SECURITY", "TLS", "it has to be one of 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'"),
        (
            "KAFKA_SECURITY",
            "SASL_SSL",
            "UPCARD_KAFKA_PASSWORD is not set, but UPCARD_KAFKA_SECURITY is SASL_SSL",
        ),
        ("KAFKA_MECHANISM", "GSSAPI", "it has to be one of"),
        ("KAFKA_AUTHORITIES_FILE", "no/such/file", "there is no such file"),
        ("CONSUMER_LAG_MAX_EVENTS", "0", "it has to be at least 1"),
        ("INSTANCE", "a b", "is 'a b', but it has characters that a name cannot have"),
        ("LOG_LEVEL", "loud", "is 'loud', but it has to be one of 'debug'"),
        ("METRICS_PORT", "65536", "it has to be at most 65535"),
        ("METRICS_PORT", "-1", "it has to be at least 0"),
        ("START_DEADLINE_S", "0", "it has to be more than 0"),
        ("STOP_DELAY_S", "soon", "it has to be a number"),
        ("STOP_DELAY_S", "nan", "it has to be"),
        ("STOP_DEADLINE_S", "inf", "it has to be at most 3600"),
        ("LOOP_STALL_S", "-1", "it has to be more than 0"),
        ("TRACING_ENDPOINT", "127.0.0.1:4317", "it does not begin with http:// or https://"),
        ("TRACING_SAMPLE_RATIO", "1.1", "it has to be at most 1"),
        ("GRPC__PORT", "x", "UPCARD_GRPC__PORT is 'x', but it has to be a whole number"),
    ],
)
def test_each_wrong_setting_is_one_sentence(
    environment: Set, name: str, value: str | None, said: str
) -> None:
    if value is None:
        environment.delenv(f"UPCARD_{name}")
    else:
        environment.setenv(f"UPCARD_{name}", value)
    sentences = problems()
    assert any(said in sentence for sentence in sentences), sentences
    assert len(sentences) == (2 if value == "SASL_SSL" else 1)
    for sentence in sentences:
        assert sentence.startswith("UPCARD_")
        assert sentence.endswith(".")
        assert "bcdef" not in sentence


def test_all_of_them_are_named_at_once(environment: Set) -> None:
    environment.delenv("UPCARD_DSN")
    environment.setenv("UPCARD_METRICS_PORT", "x")
    environment.setenv("UPCARD_LOG_LEVEL", "x")
    assert [sentence.split()[0] for sentence in problems()] == [
        "UPCARD_DSN",
        "UPCARD_LOG_LEVEL",
        "UPCARD_METRICS_PORT",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("UPCARD_LOG_LEVLE", "UPCARD_LOG_LEVEL"),
        ("UPCARD_METRICS_PROT", "UPCARD_METRICS_PORT"),
        ("UPCARD_dsn", "UPCARD_DSN"),
    ],
)
def test_a_misspelt_name_is_no_silence(environment: Set, written: str, meant: str) -> None:
    environment.delenv(meant, raising=False)
    environment.setenv(written, "info")
    assert f"{written} is set, and nothing reads it: did you mean {meant}? Rename or unset it." in problems()


@pytest.mark.parametrize(
    "other", ["UPCARD_LANE", "UPCARD_POSTGRES_DSN", "UPCARD_WALLET_PARTNER", "LOG_LEVLE"]
)
def test_names_of_others_are_left_alone(environment: Set, other: str) -> None:
    environment.setenv(other, "x")
    load_settings(Everything)


def test_a_secret_may_lie_in_a_file(environment: Set, tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_text(f"{DSN}\n")
    environment.delenv("UPCARD_DSN")
    environment.setenv("UPCARD_DSN_FILE", str(file))
    assert load_settings(Everything).dsn.get_secret_value() == DSN


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"x" * 70_000, "longer than 65536 bytes"),
        (b"\xff\xfe", "cannot be read (not text)"),
    ],
)
def test_a_secrets_file_that_is_none(
    environment: Set, tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "dsn"
    if content is not None:
        file.write_bytes(content)
    environment.delenv("UPCARD_DSN")
    environment.setenv("UPCARD_DSN_FILE", str(file))
    (sentence,) = problems()
    assert sentence.startswith("UPCARD_DSN_FILE names a file that")
    assert said in sentence


def test_a_secret_given_twice_is_a_question(environment: Set, tmp_path: Path) -> None:
    environment.setenv("UPCARD_DSN_FILE", str(tmp_path / "dsn"))
    assert problems() == ("UPCARD_DSN and UPCARD_DSN_FILE are both set: unset one of them.",)


def test_secrets_show_nowhere(environment: Set) -> None:
    environment.setenv("UPCARD_GRPC__KEY", "correct-key")
    loaded = load_settings(Everything)
    assert set(secrets_of(loaded)) == {DSN, "correct-key"}
    for text in (
        repr(loaded),
        str(loaded),
        str(shown(loaded)),
        loaded.model_dump_json(),
        str(loaded.model_dump()),
    ):
        assert "correct-" not in text
    assert shown(loaded)["UPCARD_DSN"] == "[masked]"
    assert shown(loaded)["UPCARD_GRPC__PORT"] == 0


def test_a_secret_in_the_wrong_place_is_masked(environment: Set) -> None:
    environment.setenv("UPCARD_KAFKA_BOOTSTRAP", DSN)
    (sentence,) = problems()
    assert "correct-horse" not in sentence


def test_a_value_without_end_is_cut(environment: Set) -> None:
    environment.setenv("UPCARD_LOG_LEVEL", "x" * 100_000)
    (sentence,) = problems()
    assert len(sentence) < 300


def test_every_setting_says_what_it_is() -> None:
    for kind in (ServiceSettings, DatabaseSettings, BrokerSettings):
        for name, field in kind.model_fields.items():
            assert field.description, f"{kind.__name__}.{name}"


def test_settings_of_ones_own(environment: Set) -> None:
    class Own(Settings):
        rounds: int = Field(description="how many rounds")

    environment.setenv("UPCARD_ROUNDS", "3")
    assert load_settings(Own).rounds == 3
    assert Own(rounds=5).rounds == 5


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:p@one:5432,two:5433,three/d?target_session_attrs=primary",
        "postgres://u@[::1]:5432/d",
        "postgresql://u:p@/d?host=/var/run/postgresql",
    ],
)
def test_addresses_of_a_cluster_and_of_sockets(environment: Set, dsn: str) -> None:
    environment.setenv("UPCARD_DSN", dsn)
    assert load_settings(Everything).dsn.get_secret_value() == dsn


class Keys(Settings):
    """Secrets in containers, and other things of several parts."""

    keys: dict[str, SecretStr]
    old: tuple[SecretBytes, ...] = ()
    names: list[str] = Field(default_factory=list)
    limits: Annotated[dict[str, int] | None, Field(description="limits")] = None


def test_secrets_in_containers_are_secrets(environment: Set) -> None:
    environment.setenv("UPCARD_KEYS", '{"k1": "correct-one", "k2": "correct-two"}')
    environment.setenv("UPCARD_OLD", "correct-three,correct-four")
    environment.setenv("UPCARD_NAMES", '["a,b", "c"]')
    environment.setenv("UPCARD_LIMITS", '{"a": 1}')
    loaded = load_settings(Keys)
    assert set(secrets_of(loaded)) == {"correct-one", "correct-two", "correct-three", "correct-four"}
    assert (loaded.names, loaded.limits) == (["a,b", "c"], {"a": 1})
    assert shown(loaded) == {
        "UPCARD_KEYS": "[masked]",
        "UPCARD_OLD": "[masked]",
        "UPCARD_NAMES": ["a,b", "c"],
        "UPCARD_LIMITS": {"a": 1},
    }


@pytest.mark.parametrize("wrong", ["correct-one", '{"k1": ', '["correct-one"]', '{"k1": {"correct-one": 1}}'])
def test_a_wrong_container_shows_no_secret(environment: Set, wrong: str) -> None:
    environment.setenv("UPCARD_KEYS", wrong)
    with pytest.raises(WrongSettings) as caught:
        load_settings(Keys)
    assert "UPCARD_KEYS is [masked], but" in str(caught.value)
    assert "correct" not in str(caught.value)


def test_a_service_with_wrong_settings_ends_with_2_and_says_why() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.servicekit.sample_service"],
        cwd=ROOT,
        env={
            **clean_environment(),
            "SAMPLE": '{"store": true}',
            "UPCARD_DSN": "postgresql://upcard:correct-horse@host",
            "UPCARD_METRICS_PORT": "x",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (ExitCode.WRONG_SETTINGS, "")
    lines = ended.stderr.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("sample: UPCARD_") for line in lines)
    assert "correct-horse" not in ended.stderr
