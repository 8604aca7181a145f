"""Keyboards from the encoder: since a layout is an input, the encoder can judge any, and so find one."""
