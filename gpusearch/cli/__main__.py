"""The script `gpusearch`, and `python -m gpusearch.cli`: no more than it takes to answer Ctrl-C from the beginning."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is still being loaded ends it as any other does."""
    try:
        from gpusearch.cli.main import main as run
    except KeyboardInterrupt:
        print("gpusearch: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
