"""The model, the motion and the state as kernels read them: tables of numbers with named columns.

A module is one table with its columns. Kernels read columns through a fixed short name of the module
(`tests/test_columns.py` checks it):

    from ..tables import state as S
    load4(state.body, i, S.COORDS)

A aim · C control · CT contacts · F factor · H holds · M motion · P pose · PU pull · R rows · RE record · S state ·
SA sample · T tree · W work, and SH for `geometry.shape_table`.
"""
