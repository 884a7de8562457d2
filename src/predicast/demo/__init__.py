"""The demo: three small worlds through the Spark pipeline, one also live; a table and a picture."""

from predicast.demo.run import run_demo

__all__ = ["run_demo"]
