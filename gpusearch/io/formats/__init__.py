"""The forms of document files, one a module: ``read``, ``write`` (not for CoNLL-U) and what is FORBIDDEN."""
