"""Pictures of what the encoder sees, of layouts and of training, each as PNG and SVG."""
