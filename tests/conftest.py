"""How all tests run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No test says how fast a machine must be, nor what else it may do meanwhile.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
