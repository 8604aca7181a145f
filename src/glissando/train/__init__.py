"""Training: augmentation, batches, losses and the loops (torch)."""
