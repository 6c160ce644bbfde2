"""How CVXPY problems are read. Only ``maps`` is needed afterwards, and it knows neither CVXPY nor SciPy."""
