"""regretless beside the libraries that a user would otherwise pick: the same work, timed within one run."""
