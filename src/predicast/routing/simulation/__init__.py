"""A whole network of brokers in one process, from one seed: clock, network, disks, faults.

=================  =============================================================================
module             what is in it
=================  =============================================================================
``options``        everything that a run depends on, in one record
``run``            a run, from its options to its ``report``
``clock``          virtual time
``network``        messages on their way, and what may become of them
``tree``           who hangs from whom, ``population`` who is there
``broker``         a router with a disk, ``client`` a host that writes into the ledger
``mischief``       crashes, cut links, brokers that leave and that join
``workloads``      worlds: what clients want and publish
``ledger``         what clients sent and heard, ``checkers`` what must hold of it
``convergence``    whether brokers agree, and keep nothing that nobody needs
``trace``          what was sent, counted, and a digest of it
``drawing``        a picture of the tree and its traffic
=================  =============================================================================
"""

from predicast.routing.simulation.drawing import Picture, drawn
from predicast.routing.simulation.options import (
    Fault,
    Faults,
    SimulationOptions,
    WorkloadName,
    usual_faults,
)
from predicast.routing.simulation.report import SimulationReport, TableSizes
from predicast.routing.simulation.run import TURNS, Simulation, simulate

__all__ = [
    "TURNS",
    "Fault",
    "Faults",
    "Picture",
    "Simulation",
    "SimulationOptions",
    "SimulationReport",
    "TableSizes",
    "WorkloadName",
    "drawn",
    "simulate",
    "usual_faults",
]
