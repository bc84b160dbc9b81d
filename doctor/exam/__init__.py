"""Floor 4: the use cases: scan paths, with workers, progress events and cancelling."""
