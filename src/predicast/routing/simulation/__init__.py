"""A whole network of brokers in one process, from one seed: clock, network, disks, faults."""
