"""The command line: one file a command, each with a function `command`; main.py lists them."""
