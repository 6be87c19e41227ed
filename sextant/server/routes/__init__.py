"""The endpoints: one module per subject, each with a `router`."""
