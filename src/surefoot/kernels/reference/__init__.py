"""The same kernels in plain NumPy, written as in the papers; imported by tests alone."""
