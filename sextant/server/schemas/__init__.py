"""What goes over the wire: one module per subject, camelCase in JSON."""
