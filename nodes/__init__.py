"""One file per node of the workflow: `async (state, runtime) -> update`."""
