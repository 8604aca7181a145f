"""What a donor holds of a session: its secret, and a receipt to write down. The store keeps hashes of both."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

ALPHABET = np.array(list("0123456789ABCDEFGHJKMNPQRSTVWXYZ"))  # Crockford's base 32: no letter looks like a digit
RECEIPT = 16  # characters, 80 bits
MISREAD = str.maketrans("OIL", "011")


def new_secret() -> str:
    """A random secret of 192 bits."""
    return secrets.token_urlsafe(24)


def receipt_of(secret: str) -> str:
    """The receipt of a secret, in groups of four: it withdraws the session, and does not tell the secret."""
    digest = hashlib.sha256(f"receipt\n{secret}".encode()).digest()[: RECEIPT * 5 // 8]
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8)).reshape(RECEIPT, 5)
    letters = "".join(ALPHABET[bits @ (1 << np.arange(5)[::-1])])
    return "-".join(letters[i : i + 4] for i in range(0, RECEIPT, 4))


def session_id(secret: str) -> str:
    """The name of a session in the store and in an export; it does not tell the secret that withdraws the session."""
    return _hash(secret)


def receipt_id(code: str) -> str:
    """The hash of a receipt as somebody typed it: case, spaces and hyphens do not matter."""
    letters = "".join(char for char in code.upper() if char.isalnum()).translate(MISREAD)
    return _hash(f"receipt {letters}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
