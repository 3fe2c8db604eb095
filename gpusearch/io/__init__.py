"""Files: documents in six forms, tables, language models, lists; how they are read, checked and written."""
