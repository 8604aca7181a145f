"""Training of the matcher: the finalists of a beam, what bends a keyboard, the loop."""
