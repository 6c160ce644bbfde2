"""The faults of one instance in a batch."""

#: What is given for each instance in the job of a fault.
FAULTS = {"infeasible": ("theta", "b"), "NaN": ("theta",), "indefinite Q": ("theta", "Q")}
