"""`upcard staff`, as a program of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from servicekit.answering import Answering
from servicekit.grpc import ActorKind, ContextVerifier, GrpcServer, ServerSettings, TrustedKey
from tests.gateway.staff.people import Person, browser, events_of, staffing
from tests.gateway.world import World
from upcard_gateway.domain.staff import StaffAdded, StaffDisabled, StaffReset, StaffRolesChanged
from upcard_gateway.entrypoints.grpc import GATEWAY_ERRORS, StaffDesk, exposed_staff

WAIT_S = 120.0


async def test_the_command_adds_changes_resets_disables_and_lists(world: World) -> None:
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    trusted = TrustedKey("operator-1", key.public_key(), frozenset({ActorKind.STAFF}))
    verifier = ContextVerifier("gateway", [trusted])
    desk = StaffDesk(staffing(world), Answering("gateway", world.pool, world.edge.store.announce))
    async with GrpcServer(
        ServerSettings(grace_s=0.2), [exposed_staff(desk)], verifier=verifier, known_errors=GATEWAY_ERRORS
    ) as server:
        environment = {
            **os.environ,
            "UPCARD_GATEWAY_ADDRESS": server.address,
            "UPCARD_SIGNING_KEY": pem.decode(),
            "UPCARD_SIGNING_KEY_ID": "operator-1",
            "UPCARD_STAFF": "s1",
        }

        async def upcard(*arguments: str, status: int = 0) -> list[dict[str, Any]]:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "upcard_operate",
                "staff",
                *arguments,
                "--json",
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, err = await asyncio.wait_for(process.communicate(), WAIT_S)
            assert process.returncode == status, (arguments, out, err)
            return [json.loads(line) for line in out.decode().splitlines() if line.startswith("{")]

        (added,) = await upcard(
            "add", "alex", "--name", "Alex Martin", "--role", "admin", "--role", "auditor"
        )
        assert (added["roles"], added["state"]) == ("auditor admin", "waits for the first sign-in")
        await upcard("add", "alex", "--name", "Alex Other", "--role", "dealer", status=1)
        person = Person(world, added["staff"], "alex", added["one_time_password"])
        async with browser(world) as new:
            assert (await person.enrol(new)).status_code == 200
        (added_later,) = await upcard("add", "kim", "--name", "Kim Doe", "--role", "admin")
        moves = ("roles", person.staff, "--role", "support", "--reason", "moves")
        await upcard(*moves, status=1)  # nobody else could sign in
        kim = Person(world, added_later["staff"], "kim", added_later["one_time_password"])
        async with browser(world) as new:
            assert (await kim.enrol(new)).status_code == 200
        (changed,) = await upcard(*moves)
        assert changed["roles"] == "support"
        (reset,) = await upcard("reset", person.staff, "--reason", "lost the phone")
        assert reset["one_time_password"] not in {None, added["one_time_password"]}
        (disabled,) = await upcard("disable", person.staff, "--reason", "left")
        assert disabled["state"] == "disabled"
        rows = await upcard("list")
        assert {row["sign_in_name"] for row in rows} == {"alex", "kim"}
        assert "one_time_password" not in str(rows)
    kinds = {type(event) for event in await events_of(world, person.staff)}
    assert kinds >= {StaffAdded, StaffRolesChanged, StaffReset, StaffDisabled}
