"""Which of many candidates is the translation: maximum derivation, maximum translation, minimum Bayes risk.

Candidates come from lists or from the samples of chains; a utility (`utility.py`) says how well one text does where
another one is right.
"""
