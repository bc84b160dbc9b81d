"""Floor 0: frozen nouns and enums; standard library and msgspec only."""
