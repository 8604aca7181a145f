"""From a checkpoint to files a device can run."""
