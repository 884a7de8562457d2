"""The console: a broker's pages at its own address, for people.

``mount`` puts them on the application that serves the broker. They speak to the broker within the
process; whoever may see them is decided by the same tokens as everything else.
"""

from predicast.console.mounting import mount
from predicast.console.visitors import Visitor

__all__ = ["Visitor", "mount"]
