"""Philox4x32-10, a counter-based random number generator (Salmon et al. 2011, "Parallel random numbers: as easy as
1, 2, 3"). Equal counter and key give equal numbers on every device, in every order: there is no state to carry.

All words are 32-bit numbers held in signed 64-bit integers. The products of `philox` may wrap around when compiled;
the bits that are kept are the same either way.
"""

from gpusearch.kernels.target import shared

MASK = 0xFFFFFFFF


@shared
def philox(counter0, counter1, counter2, counter3, key0, key1):
    """Four random words from a 128-bit counter and a 64-bit key."""
    for _ in range(10):
        low = counter0 * 0xD2511F53
        high = counter2 * 0xCD9E8D57
        counter0, counter2 = ((high >> 32) ^ counter1 ^ key0) & MASK, ((low >> 32) ^ counter3 ^ key1) & MASK
        counter1, counter3 = high & MASK, low & MASK
        key0 = (key0 + 0x9E3779B9) & MASK
        key1 = (key1 + 0xBB67AE85) & MASK
    return counter0, counter1, counter2, counter3


# Indices of the random stream of a step: four words, how many were taken, and what they are made from.
TAKEN, STEP, CHAIN, KEY0, KEY1 = range(4, 9)

# First blocks (fourth counter word) of the streams of one step: nothing else is random.
PROPOSAL, INITIAL = 0, 1 << 20


@shared
def open_stream(random, key0, key1, step, chain, purpose):
    """Begin the stream of random words that belongs to (key, step, chain, purpose)."""
    random[TAKEN] = purpose << 2
    random[STEP] = step
    random[CHAIN] = chain
    random[KEY0] = key0
    random[KEY1] = key1


@shared
def next_word(random):
    """The next word of the stream, uniform over 0 .. 2^32 - 1."""
    taken = random[TAKEN]
    if taken & 3 == 0:
        step = random[STEP]
        word0, word1, word2, word3 = philox(
            step & MASK, step >> 32, random[CHAIN], taken >> 2, random[KEY0], random[KEY1]
        )
        random[0] = word0
        random[1] = word1
        random[2] = word2
        random[3] = word3
    random[TAKEN] = taken + 1
    return random[taken & 3]


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
    k = 1
    while k < most and word < survival[row, k]:
        k += 1
    return k
