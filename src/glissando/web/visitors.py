"""Who asks: an address to count requests by, never stored, and the operator's token."""

from __future__ import annotations

import hmac
import ipaddress

from fastapi import Request

from glissando.errors import GlissandoError


class TokenError(GlissandoError):
    """No operator's token, or a wrong one."""


def address(request: Request) -> str:
    """The visitor's address; of IPv6 the /64, which is what one subscriber has."""
    host = request.client.host if request.client else ""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else host


def check_token(request: Request, token: str) -> None:
    """Refuse who does not send ``Authorization: Bearer`` and the token; takes as long for any wrong one."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if not (token and scheme.lower() == "bearer" and right):
        raise TokenError("the operator's token is needed, as 'Authorization: Bearer TOKEN'")
