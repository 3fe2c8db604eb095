"""Features beyond those of the models, of whole documents and of sentences: a feature a file."""
