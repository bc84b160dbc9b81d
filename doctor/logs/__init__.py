"""Floor 2: bytes become lines, lines become occurrences, exceptions and number series. Nothing here judges."""
