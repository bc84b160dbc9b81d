"""llm-doctor: what broke a training or serving job, on which rank, why, and what to do about it."""
