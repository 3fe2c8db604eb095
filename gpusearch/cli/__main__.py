"""`python -m gpusearch.cli`: the same as the script `gpusearch`."""

from gpusearch.cli.main import main

main()
