"""How much a run tries: little by default, all with ``HYPOTHESIS_PROFILE=long`` (``make fuzz``)."""

import os

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
