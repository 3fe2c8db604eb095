"""From parallel text to a model: alignment, extraction, counting, language models, spaces of words."""
