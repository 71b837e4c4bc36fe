"""Analysis of a finished motion: centre of mass, support, flaws of a recording."""
