"""Where phones find this server, and that address as a QR code."""

from __future__ import annotations

import ipaddress
import re

from fastapi import Request

HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:]{2,45}\](:\d{1,5})?")


def page_address(request: Request) -> str | None:
    """The address that a visitor used, without a path; None where the header is none."""
    host = request.headers.get("host", "")
    return f"{request.url.scheme}://{host}" if HOST.fullmatch(host) else None


def phone_address(request: Request, known: str) -> str | None:
    """The address for phones: what the operator or the server knows, else what the visitor used, unless it is local."""
    asked = page_address(request)
    return known or (asked if asked and not _is_local(asked) else None)


def qr_rows(text: str) -> list[str]:
    """A QR code: rows of 0 (light) and 1 (dark), without a margin."""
    import segno

    return ["".join(map(str, row)) for row in segno.make(text, micro=False).matrix]


def _is_local(address: str) -> bool:
    """Whether an address is that of the visitor's own machine."""
    host = re.sub(r":\d+$", "", address.partition("://")[2]).strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")
