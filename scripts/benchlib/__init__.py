"""Measures onnxfs against what users would take instead and what the machine allows; scripts/bench starts it."""
