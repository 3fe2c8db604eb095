"""What a translation is scored by: tables, language models, reordering, weights; options and problems in integers."""
