"""Real rules and real events: ``python -m bench real``."""
