"""Region joins: all pairs of publication and subscription regions that meet, from arrays."""

from predicast.matching.region_join.join import (
    RegionPairs,
    count_region_pairs,
    join_regions,
    join_regions_in_pieces,
)

__all__ = ["RegionPairs", "count_region_pairs", "join_regions", "join_regions_in_pieces"]
