"""What every benchmark here measures, keeps, draws and judges with.

=====================  =========================================================================
module                 what is in it
=====================  =========================================================================
``sizes``              the two sizes that a benchmark comes in
``timing``             the two clocks, and whose turn it is
``memory``             what a process holds
``machine``            what a result was measured on
``result_files``       results as JSON, and documents of them in two places
``figures``            the look of all figures: colours, grids of panels, names at lines' ends
``verdict``            whether a claim or a goal holds, and on what evidence
``progress``           the bar
=====================  =========================================================================
"""
