"""Consumers: another service's events, each with its effect exactly once."""

from messaging.consumer.consumer import Consumer, ConsumerStatus
from messaging.consumer.observer import ConsumerObserver, Logged
from messaging.consumer.settings import ConsumerSettings

__all__ = ["Consumer", "ConsumerObserver", "ConsumerSettings", "ConsumerStatus", "Logged"]
