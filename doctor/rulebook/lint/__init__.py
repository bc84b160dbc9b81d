"""Rules that lint rules: each module yields the faults of one kind of claim that a rule file makes."""
