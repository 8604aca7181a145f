"""Training of the decoder, and of what it needs: the embedder and the hard negatives mined with it."""
