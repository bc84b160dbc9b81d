"""Floor 3: pure judgement: signals and facts become an order of events, tree walks and diagnoses. No I/O, no clock."""
