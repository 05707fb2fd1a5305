"""Everything Foreword raises on purpose.

ForewordError
├── BadInput            the caller sent something that cannot be used
│   ├── TooLarge
│   └── UnknownId
├── BadSettings         a settings file or variable that cannot be read
├── StoreError          the memory file
│   ├── StoreUnwritable     read-only, or the disk is full
│   ├── StoreDamaged        not a Foreword database any more
│   ├── StoreFromTheFuture  made by a newer Foreword
│   └── StoreBusy           another process held the lock for too long
├── ProviderError       a model outside Foreword
│   └── ModelDamaged        the shipped model does not match its checksum
├── HostError           an agent program's settings, or what an installer did to them
├── LaneError           a context file or a journal in a workspace
├── RolloutError        a phase that is in place and does not hold
├── ReviewError         a draft that may not go where it is meant to
└── DaemonError         the process that serves the hosts

A class's docstring is its default message, `code` its name on the wire, `hint` the next step for a person.
"""

from __future__ import annotations


class ForewordError(Exception):
    """Foreword could not do that."""

    code = "error"
    hint = ""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        if hint:
            self.hint = hint

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message} {self.hint}".strip() if self.hint else message


class BadInput(ForewordError):
    """What was sent cannot be used."""

    code = "bad_input"


class TooLarge(BadInput):
    """What was sent is larger than Foreword keeps."""

    code = "too_large"


class UnknownId(BadInput):
    """There is nothing with that id."""

    code = "unknown_id"


class BadSettings(ForewordError):
    """A setting cannot be used."""

    code = "bad_settings"


class StoreError(ForewordError):
    """The memory store could not be used."""

    code = "store"


class StoreUnwritable(StoreError):
    """The memory store cannot be written."""

    code = "store_unwritable"


class StoreDamaged(StoreError):
    """The memory store is damaged."""

    code = "store_damaged"


class StoreFromTheFuture(StoreError):
    """The memory store was made by a newer Foreword."""

    code = "store_from_the_future"
    hint = "Upgrade Foreword, or open another home."


class StoreBusy(StoreError):
    """Another process is writing to the memory store."""

    code = "store_busy"
    hint = "Try again in a moment."


class ProviderError(ForewordError):
    """A model outside Foreword did not answer."""

    code = "provider"


class ModelDamaged(ProviderError):
    """A shipped model does not match its checksum."""

    code = "model_damaged"
    hint = "Reinstall Foreword."


class HostError(ForewordError):
    """The host's settings cannot be used."""

    code = "host"


class LaneError(ForewordError):
    """A file in the workspace could not be written."""

    code = "lane"
    hint = "Run `foreword doctor`."


class RolloutError(ForewordError):
    """A phase of the rollout does not hold."""

    code = "rollout"
    hint = "Run `foreword rollout status`."


class ReviewError(ForewordError):
    """The draft cannot be used."""

    code = "review"


class DaemonError(ForewordError):
    """Foreword's daemon cannot be reached."""

    code = "daemon"
    hint = "Run `foreword doctor`."
