"""The part of KenLM's Python module that gpusearch uses; kenlm and ufal.kenlm ship no types."""

class State: ...

class FullScoreReturn:
    log_prob: float
    ngram_length: int
    oov: bool

class LoadMethod:
    LAZY: int
    POPULATE_OR_LAZY: int
    POPULATE_OR_READ: int
    READ: int
    PARALLEL_READ: int

class Config:
    load_method: int
    show_progress: bool
    arpa_complain: int
    def __init__(self) -> None: ...

class ARPALoadComplain:
    ALL: int
    EXPENSIVE: int
    NONE: int

class Model:
    order: int
    path: bytes
    def __init__(self, path: str | bytes, config: Config = ...) -> None: ...
    def __contains__(self, word: str | bytes) -> bool: ...
    def score(self, sentence: str, bos: bool = True, eos: bool = True) -> float: ...
    def perplexity(self, sentence: str) -> float: ...
    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> list[tuple[float, int, bool]]: ...
    def BeginSentenceWrite(self, state: State) -> None: ...
    def NullContextWrite(self, state: State) -> None: ...
    def BaseScore(self, in_state: State, word: str, out_state: State) -> float: ...
    def BaseFullScore(self, in_state: State, word: str, out_state: State) -> FullScoreReturn: ...

LanguageModel = Model
