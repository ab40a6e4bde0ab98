"""Apache Kafka in KRaft mode on this machine: one broker, or three that form a cluster."""

from __future__ import annotations

import base64
import json
import shutil
import signal
import subprocess
import uuid
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from stack.brokers.jars import kafka_jars
from stack.brokers.properties import server_properties
from stack.brokers.readiness import brokers_in_cluster
from stack.deadlines import LONGEST_PAUSE_S, happens
from stack.errors import StackError
from stack.local.guarded import Command
from stack.local.server import PORT_TRIES, LocalServer, PortTakenError
from stack.ports import answers, free_ports

FORMAT_DEADLINE_S = 120.0
TOGETHER_DEADLINE_S = 60.0
# A broker of a test needs little: a small heap, the quick compiler, no collector threads.
JAVA = ("java", "-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


@dataclass(frozen=True, slots=True)
class Node:
    """One server of a cluster, as all of them know it."""

    id: int
    port: int
    controller_port: int
    directory_id: str


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A cluster's identity and members: fixed when its disks are formatted, kept beside them."""

    cluster_id: str
    nodes: tuple[Node, ...]

    @classmethod
    def new(cls, brokers: int) -> ClusterPlan:
        """A plan with ports that are free now."""
        ports = free_ports(2 * brokers)
        nodes = [Node(n + 1, ports[2 * n], ports[2 * n + 1], _kafka_uuid()) for n in range(brokers)]
        return cls(_kafka_uuid(), tuple(nodes))

    def write(self, file: Path) -> None:
        """Keep it."""
        file.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> ClusterPlan:
        """What `write` kept."""
        kept = json.loads(file.read_text(encoding="utf-8"))
        return cls(kept["cluster_id"], tuple(Node(**node) for node in kept["nodes"]))


class KafkaBroker(LocalServer):
    """One Kafka server, broker and controller in one."""

    stop_signal = signal.SIGTERM
    stop_deadline_s = 30.0
    start_deadline_s = 120.0

    def __init__(self, folder: Path, plan: ClusterPlan, node: Node, jars: Path, *, used: bool) -> None:
        """A member of a planned cluster; of a `used` one, when others know its ports already."""
        self.name = f"kafka-{node.id}"
        super().__init__(folder, node.port)
        self._keeps_port = used
        self._plan, self._node, self._jars = plan, node, jars

    @property
    def data(self) -> Path:
        """Its log directory."""
        return self.folder / "data"

    def prepare(self) -> None:
        """A formatted disk."""
        properties = self.folder / "server.properties"
        properties.write_text(server_properties(self._node, self._plan.nodes, self.data), encoding="utf-8")
        if not (self.data / "meta.properties").exists():
            self._format(properties)

    def command(self) -> Command:
        """The server, its log on standard error."""
        return Command(
            arguments=[
                *JAVA,
                "-Dorg.slf4j.simpleLogger.showDateTime=true",
                "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
                "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config=warn",
                "-cp",
                f"{self._jars}/*",
                "kafka.Kafka",
                str(self.folder / "server.properties"),
            ],
            folder=self.folder,
            log=self.log,
            stop_signal=self.stop_signal,
            stop_deadline_s=self.stop_deadline_s,
        )

    def is_ready(self) -> bool:
        """Whether it answers, and knows at least itself."""
        return answers(self._node.port) and brokers_in_cluster(self.address) >= 1

    def launch_on_a_port(self) -> None:
        """Never at another port than the plan's: the other members, and the formatted disks, know it."""
        if self._keeps_port:
            super().launch_on_a_port()
        else:
            self.launch()

    def wipe(self) -> None:
        """Kill it and throw its disk away; at the next start it has lost everything."""
        if self.running:
            self.kill()
        shutil.rmtree(self.data, ignore_errors=True)

    def _format(self, properties: Path) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        voters = ",".join(f"{n.id}@127.0.0.1:{n.controller_port}:{n.directory_id}" for n in self._plan.nodes)
        arguments = [
            *JAVA,
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            f"{self._jars}/*",
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={self._plan.cluster_id}",
            f"--config={properties}",
            f"--initial-controllers={voters}",
        ]
        with self.log.open("ab") as log:
            try:
                subprocess.run(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    check=True,
                    timeout=FORMAT_DEADLINE_S,
                )
            except (OSError, subprocess.SubprocessError) as error:
                shutil.rmtree(self.data, ignore_errors=True)
                raise self.failed(f"its disk could not be formatted ({error})") from error


class KafkaCluster:
    """The brokers of one cluster, started and stopped together; each can be killed and started alone."""

    def __init__(self, folder: Path, brokers: int) -> None:
        """A cluster in a folder; what lies there goes on, if it has as many brokers."""
        self.folder = folder
        self.brokers: tuple[KafkaBroker, ...] = ()
        self._count = brokers

    @property
    def bootstrap(self) -> str:
        """`host:port` of each broker, with commas."""
        return ",".join(broker.address for broker in self.brokers)

    def start(self) -> None:
        """Start all, and wait until each knows of all.

        Raises:
            ServerDidNotStartError: One of them did not start; the message names its log.
        """
        jars = kafka_jars()
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "cluster.json"
        for attempt in range(1, PORT_TRIES + 1):
            new = not file.exists()
            plan = ClusterPlan.new(self._count) if new else ClusterPlan.read(file)
            if len(plan.nodes) != self._count:
                raise StackError(
                    f"{self.folder} holds a cluster of {len(plan.nodes)} brokers, not of {self._count}"
                )
            self.brokers = tuple(
                KafkaBroker(self.folder / str(node.id), plan, node, jars, used=not new) for node in plan.nodes
            )
            try:
                self._start_together()
            except PortTakenError as taken:
                # Ports are written on the formatted disks; a cluster that was never used can have new ones.
                if not new or attempt == PORT_TRIES:
                    raise self.brokers[0].failed(f"another program has the port {taken}") from taken
                for broker in self.brokers:
                    shutil.rmtree(broker.folder, ignore_errors=True)
                continue
            plan.write(file)
            return

    def stop(self) -> None:
        """Stop all, together: each has to hand its partitions over while there is someone to take them."""
        with ThreadPoolExecutor(max(1, len(self.brokers))) as pool:
            for _ in pool.map(KafkaBroker.stop, self.brokers):
                pass

    def wipe(self) -> None:
        """Kill all and throw their disks away."""
        for broker in self.brokers:
            broker.wipe()

    def wait_until_whole(self, within_s: float = TOGETHER_DEADLINE_S) -> None:
        """Wait until every broker that runs knows of all brokers.

        Raises:
            ServerDidNotStartError: They did not find each other.
        """
        running = [broker for broker in self.brokers if broker.running]
        for broker in running:
            if not happens(partial(_sees, broker.address, len(running)), within_s):
                raise broker.failed(f"it did not find all {len(running)} brokers in {within_s:.0f} s")

    def _start_together(self) -> None:
        with ThreadPoolExecutor(len(self.brokers)) as pool:
            starts = [pool.submit(broker.start) for broker in self.brokers]
            done, waiting = wait(starts, return_when=FIRST_EXCEPTION)
            failures = [failure for start in done if (failure := start.exception()) is not None]
            while waiting:  # the others would wait for the one that failed
                for broker in self.brokers:
                    broker.abandon()
                _, waiting = wait(waiting, timeout=LONGEST_PAUSE_S)
        if failures:
            _end_all(self.brokers)
            raise failures[0]
        self.wait_until_whole()


def _sees(address: str, count: int) -> bool:
    return brokers_in_cluster(address) >= count


def _end_all(brokers: Sequence[KafkaBroker]) -> None:
    for broker in brokers:
        if broker.running:
            broker.kill()


def _kafka_uuid() -> str:
    """A UUID as Kafka writes it: 22 characters; it must not look like an option."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text
