"""``deliver``: a stream of events into sinks, each delivery once, whatever fails in between."""
