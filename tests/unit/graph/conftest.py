"""The same bench as for single nodes."""

from tests.unit.nodes.conftest import bench

__all__ = ["bench"]
