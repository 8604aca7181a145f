"""Swipes on disk: reading, filtering, splitting, packing and counting them (no torch)."""
