"""The model, the motion and the state as kernels read them: tables of numbers with named columns."""
