"""Floor 7: click commands, loaded lazily: parse, call an examination, choose a report, exit."""
