"""The main path: first translations, chains, policies and samplers on a device, recombination, the choice."""
