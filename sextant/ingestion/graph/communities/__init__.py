"""Find communities of entities, and write a report on each."""
