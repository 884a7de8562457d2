"""Just enough of each broker's protocol to publish and to receive, all of them written alike.

What client libraries cost should decide nothing: payloads are not decoded but searched for the
numbers of events, for every broker by the same expression.
"""
