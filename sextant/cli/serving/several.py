"""The supervisor of `sextant serve --workers`: a process that has ended is known to have, at once."""

from __future__ import annotations

from uvicorn.supervisors import Multiprocess

# Seconds for an interpreter that has closed its end to finish, so that its own exit code is seen.
_ENDING = 10


class Several(Multiprocess):
    """Uvicorn's supervisor, which hears of a process that ends while it is asked whether it lives.

    Uvicorn keeps the other end of each process's pipe open itself, so that one which ends after it was
    asked leaves it waiting for `timeout_worker_healthcheck`, and deaf to signals meanwhile.
    """

    def keep_subprocess_alive(self) -> None:
        """Replace whoever has ended or is silent; stop where one cannot start."""
        for one in self.processes:
            one.child_conn.close()  # held by the process alone: its end is then the pipe's
            if not one.ping(self.config.timeout_worker_healthcheck):
                one.process.join(_ENDING)
                one.process.kill()
                one.process.join()
        super().keep_subprocess_alive()
