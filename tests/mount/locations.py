"""External data as the tests write it."""

CONTENT = bytes(range(64))  # of every data file
FIRST = CONTENT[:8]         # what a FLOAT tensor of shape [2] at offset 0 is


def at(location, **numbers):
    """external_data with a location and decimal numbers."""
    return [("location", location), *((key, str(value)) for key, value in numbers.items())]
