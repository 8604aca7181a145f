"""A certificate for HTTPS in a local network, made at the start and trusted by nobody but those who compare it."""

from __future__ import annotations

import hashlib
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

DAYS = 90  # how long it is valid; every start makes a new one


@dataclass(frozen=True)
class Certificate:
    """Files for the server, and the SHA-256 fingerprint that a browser shows for it."""

    certificate: Path
    key: Path
    fingerprint: str


def make_certificate(hosts: tuple[str, ...], folder: Path) -> Certificate:
    """Make a certificate for some hosts, names or addresses; the folder must be readable by the owner alone."""
    import trustme

    until = datetime.now(UTC) + timedelta(days=DAYS)
    issued = trustme.CA(organization_name="glissando").issue_cert(*hosts, not_after=until)
    made = folder / "certificate.pem", folder / "key.pem"
    made[0].write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    made[1].write_bytes(issued.private_key_pem.bytes())
    binary = ssl.PEM_cert_to_DER_cert(issued.cert_chain_pems[0].bytes().decode())
    return Certificate(*made, hashlib.sha256(binary).digest().hex(":").upper())
