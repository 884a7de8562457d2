"""Deliveries that are pushed: CloudEvents over HTTP, signed, and tried again where they fail."""

from predicast.broker.webhooks.back_off import BackOff
from predicast.broker.webhooks.pusher import Pusher, PushOptions
from predicast.broker.webhooks.sending import HttpSender, Sender, SinkAnswer
from predicast.broker.webhooks.signing import sign, verify

__all__ = [
    "BackOff",
    "HttpSender",
    "PushOptions",
    "Pusher",
    "Sender",
    "SinkAnswer",
    "sign",
    "verify",
]
