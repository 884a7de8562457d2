"""EventBridge's event patterns, and the filter policies of SNS, which are a part of them."""

from predicast.language.eventbridge.dialect import EventBridge
from predicast.language.eventbridge.sns import Sns

__all__ = ["EventBridge", "Sns"]
