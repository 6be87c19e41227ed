"""Read, store and write the lines of imports and exports."""
