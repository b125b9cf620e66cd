"""Measurements taken in turns, so that what the machine does meanwhile meets all sides alike."""


def interleave(rounds, *measurements):
    """Calls each measurement once a round, every other round in reverse order; returns a list of results for each."""
    results = [[] for _ in measurements]
    turns = list(zip(measurements, results))
    for number in range(rounds):
        for measure, taken in turns if number % 2 == 0 else reversed(turns):
            taken.append(measure())
    return results
