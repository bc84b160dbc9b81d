"""Floor 5: a diagnosis as text, JSON or Markdown; the only writer to stdout; owns the exit codes."""
