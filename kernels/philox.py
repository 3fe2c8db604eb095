"""Philox4x32-10, a counter-based random number generator (Salmon et al. 2011, "Parallel random numbers: as easy as
1, 2, 3"). Equal counter and key give equal numbers on every device, in every order: there is no state to carry.

All words are 32-bit numbers held in signed 64-bit integers. The products of `philox` may wrap around when compiled;
the bits that are kept are the same either way.
"""

from gpusearch.kernels.records import AHEAD
from gpusearch.kernels.target import optional, shared, wrapping_product

MASK = 0xFFFFFFFF


@shared
def philox(counter0, counter1, counter2, counter3, key0, key1):
    """Four random words from a 128-bit counter and a 64-bit key."""
    for _ in range(10):
        low = wrapping_product(counter0, 0xD2511F53)
        high = wrapping_product(counter2, 0xCD9E8D57)
        counter0, counter2 = ((high >> 32) ^ counter1 ^ key0) & MASK, ((low >> 32) ^ counter3 ^ key1) & MASK
        counter1, counter3 = high & MASK, low & MASK
        key0 = (key0 + 0x9E3779B9) & MASK
        key1 = (key1 + 0xBB67AE85) & MASK
    return counter0, counter1, counter2, counter3


# A random stream: its last eight words at most, how many were taken and made so far, what they are made from, the
# visit that the step is part of (visits.py), and what the inverse of the draw must know of it (hastings.py).
BUFFER = 8
TAKEN, MADE, STEP, CHAIN, KEY0, KEY1 = range(BUFFER, BUFFER + 6)
VISIT_START, VISIT_BEGIN, VISIT_END, VISIT_WORD = range(BUFFER + 6, BUFFER + 10)
NOTED, RATIO = range(BUFFER + 10, BUFFER + 12)

# First blocks (fourth counter word) of what is drawn for a step or a chain; nothing else is random: the stream of a
# proposal, that of a first translation, a chain's first visit, the noise of a Gibbs block's candidates (two share a
# block of words), which block that is, the order of a sweep's groups, the u that decides on a proposal,
# and those of exchanges of temperatures, one for each pair of levels.
PROPOSAL, INITIAL, SENTENCE, NOISE, SCAN, SWEEP = 0, 1 << 20, 1 << 21, 1 << 22, 1 << 23, (1 << 23) + 1
ACCEPTANCE, SWAP = 1 << 24, 1 << 25


@shared
def open_stream(random, key0, key1, step, chain, purpose):
    """Begin the stream of random words that belongs to (key, step, chain, purpose)."""
    if random[CHAIN] != chain or random[KEY0] != key0 or random[KEY1] != key1:
        random[VISIT_END] = 0
    random[TAKEN] = purpose << 2
    random[MADE] = purpose << 2
    random[STEP] = step
    random[CHAIN] = chain
    random[KEY0] = key0
    random[KEY1] = key1


def _open_without_words(ahead, random, key0, key1, step, chain):
    open_stream(random, key0, key1, step, chain, PROPOSAL)


@optional(_open_without_words)
def open_proposal(ahead, random, key0, key1, step, chain):
    """Begin the stream of a step's proposal; its first words are taken from those made ahead, where there are such."""
    group = step // AHEAD
    made = ahead.of
    if made[0] != group or made[1] != chain or made[2] != key0 or made[3] != key1:
        make_ahead(ahead, group, chain, key0, key1)
    open_stream(random, key0, key1, step, chain, PROPOSAL)
    random[MADE] = BUFFER
    place = step - group * AHEAD
    for k in range(BUFFER):
        random[k] = ahead.word[k, place]


@shared
def make_ahead(ahead, group, chain, key0, key1):
    """The first words of the proposals of `AHEAD` steps. Its loop has no branches: compilers make vectors of it."""
    ahead.of[0] = group
    ahead.of[1] = chain
    ahead.of[2] = key0
    ahead.of[3] = key1
    for block in range(BUFFER // 4):
        for k in range(AHEAD):
            step = group * AHEAD + k
            word0, word1, word2, word3 = philox(step & MASK, step >> 32, chain, block, key0, key1)
            ahead.word[4 * block, k] = word0
            ahead.word[4 * block + 1, k] = word1
            ahead.word[4 * block + 2, k] = word2
            ahead.word[4 * block + 3, k] = word3


@shared
def next_word(random):
    """The next word of the stream, uniform over 0 .. 2^32 - 1."""
    taken = random[TAKEN]
    if taken == random[MADE]:
        step = random[STEP]
        word0, word1, word2, word3 = philox(
            step & MASK, step >> 32, random[CHAIN], taken >> 2, random[KEY0], random[KEY1]
        )
        place = taken & (BUFFER - 1)
        random[place] = word0
        random[place + 1] = word1
        random[place + 2] = word2
        random[place + 3] = word3
        random[MADE] = taken + 4
    random[TAKEN] = taken + 1
    return random[taken & (BUFFER - 1)]


@shared
def uniform(random, count):
    """A whole number 0 .. count - 1, for count < 2^31; the bias is below count / 2^32."""
    return (next_word(random) * count) >> 32


@shared
def below(random, total):
    """A whole number 0 .. total - 1, for total <= 2^32: (word * total) >> 32 in halves, which do not overflow."""
    word = next_word(random)
    return ((word >> 16) * total + ((word & 0xFFFF) * total >> 16)) >> 16


@shared
def truncated_geometric(random, survival, row, most):
    """A number k of 1 .. most (at most the table's length) with probability in proportion to decay^(k - 1).

    ``survival[row, k]`` is decay^k in 2^-32.
    """
    most = min(most, survival.shape[1] - 1)
    least = survival[row, most]
    word = least + below(random, (1 << 32) - least)
    # From `most` on no survival is above `word`. Two thirds of the draws end within the sum: no branch to guess.
    k = 1 + (word < survival[row, 1]) + (word < survival[row, 2]) + (word < survival[row, 3])
    if k == 4:
        while k < most and word < survival[row, k]:
            k += 1
    return k
