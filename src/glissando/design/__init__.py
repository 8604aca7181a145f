"""Keyboards from the encoder: a layout is one of its inputs, so it can judge any layout, and so search for one."""
