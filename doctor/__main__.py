"""``python -m doctor``: the same as the command ``llm-doctor``."""

from __future__ import annotations

from doctor.cli.main import main

if __name__ == "__main__":
    main()
