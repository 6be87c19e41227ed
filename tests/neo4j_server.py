"""A real Neo4j server for tests: the one of NEO4J_URI, or a temporary one.

The temporary one is a community server from the jars of Maven Central (`scripts/neo4j`). It listens on a
free port of the loopback interface and uses a new folder each time.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from tests.ports import reserve_port

SCRIPTS = Path(__file__).parents[1] / "scripts" / "neo4j"
_FETCHED = Path(__file__).parents[1] / ".cache" / "neo4j" / "lib"
LIBRARY = Path(os.environ.get("NEO4J_LIBRARY", _FETCHED))

QUICK = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
FAST = ("-Xmx2g",)

_JAVA_BASE = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_INSTALL = (
    "The tests of the graph store need a Neo4j server. Run `make setup`, which fetches one by Maven "
    "(sudo apt-get install maven openjdk-17-jdk-headless), or set NEO4J_URI to a server of your own."
)


class ServerMissing(RuntimeError):
    """Raised if no Neo4j server can be started; the message says what to install."""


@dataclass
class Neo4jServer:
    """A Neo4j process on its own port, which keeps its data between `kill` and `start`.

    Attributes:
        options: options of the Java virtual machine; those of tests start quickly.
        logins: whether it requires a login, initially that of `neo4j` with an expired password.
        uri: its Bolt address.
    """

    library: Path = LIBRARY
    java: str = "java"
    options: tuple[str, ...] = QUICK
    logins: bool = False
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="neo4j-")))
    _process: subprocess.Popen[str] | None = None
    # Reserves the port while the server is not running.
    _reserved_port: socket.socket = field(default_factory=reserve_port)

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        return int(self._reserved_port.getsockname()[1])

    @property
    def installed(self) -> bool:
        """Return whether Java and the jars are installed."""
        jars = any(self.library.glob("neo4j-bolt-*.jar"))
        return jars and shutil.which(self.java) is not None

    @property
    def uri(self) -> str:
        """Return the address for a driver."""
        return f"bolt://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server, and return when it answers.

        Raises:
            ServerMissing: Java or the jars are missing, or the server does not start.
        """
        if not self.installed:
            raise ServerMissing(_INSTALL)
        with (self.folder / "server.log").open("a") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == "ready":
                return
        self._process = None
        raise ServerMissing(f"Neo4j did not start; {self.folder / 'server.log'} says why.")

    def kill(self) -> None:
        """Kill the process like a crash; `start` starts it again with the same data."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def close(self) -> None:
        """Kill the process and delete its data."""
        self.kill()
        self._reserved_port.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self) -> list[str]:
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _JAVA_BASE]
        current = ["--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"]
        # Neo4j 5 needs neither, and Java 17 knows only the second.
        newer = current if any(self.library.glob("neo4j-bolt-20*.jar")) else []
        program = [str(SCRIPTS / "Server.java"), str(self.folder / "data"), str(self.port)]
        return [
            self.java,
            *self.options,
            *opened,
            *newer,
            "-cp",
            f"{self.library}{os.sep}*",
            *program,
            *(["auth"] if self.logins else []),
        ]


@contextmanager
def neo4j_for_tests(options: tuple[str, ...] = QUICK) -> Iterator[dict[str, object]]:
    """Yield the settings of a test server: that of NEO4J_URI, else a temporary one.

    Raises:
        ServerMissing: there is no server, and none can be started.
    """
    if uri := os.environ.get("NEO4J_URI"):
        password = os.environ.get("NEO4J_PASSWORD")
        yield {
            "neo4j_uri": uri,
            "neo4j_username": os.environ.get("NEO4J_USERNAME", "neo4j"),
            "neo4j_password": SecretStr(password) if password else None,
            "neo4j_database": os.environ.get("NEO4J_DATABASE"),
        }
        return
    server = Neo4jServer(options=options)
    try:
        server.start()
        yield {"neo4j_uri": server.uri}
    finally:
        server.close()
