"""Floor 2: rules as data: load, validate, compile, lint, explain."""
