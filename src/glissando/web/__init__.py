"""One ASGI app: a keyboard to try with a finger, and a site that collects swipes (no torch)."""
