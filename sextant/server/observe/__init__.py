"""What the server tells of itself: metrics, logs, traces, and whether it is ready (docs/operations.md)."""
