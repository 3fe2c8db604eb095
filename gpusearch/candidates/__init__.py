"""Many translations of one text, before anything is decided: read from lists, samples or the input, and weighed."""
