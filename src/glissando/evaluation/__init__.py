"""Measuring: metrics, evaluation, benchmarks."""
