"""The endpoints of DESIGN §7: one module per subject, each with a `router`."""
