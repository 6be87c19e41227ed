"""Freshness: how much of a score is left to a text of some age."""

from __future__ import annotations

from datetime import UTC, datetime

_DAY = 86_400.0  # seconds


def time_decay(age_days: float, half_life: float) -> float:
    """Return what is left after `age_days` of something that halves every `half_life` days, 0..1.

    `0.5 ** (age / half_life)`; what is dated in the future counts as new.

    Args:
        age_days: age in days.
        half_life: days, above 0.
    """
    return float(0.5 ** (max(age_days, 0.0) / half_life))


def age_in_days(created_at: datetime, now: datetime) -> float:
    """Return days from `created_at` to `now`, negative for the future; a time without zone is UTC."""
    return (_in_utc(now) - _in_utc(created_at)).total_seconds() / _DAY


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
