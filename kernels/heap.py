"""A queue by priority, and the n-th largest of an array: integers only, nothing allocated."""

from gpusearch.kernels.target import shared


@shared
def sift_down(key, slot, place, count):
    """Put the entry at `place` of a binary heap of `count` entries (largest key first) where it belongs below."""
    mine = key[place] + 0
    mine_slot = slot[place] + 0
    child = 2 * place + 1
    while child < count:
        if child + 1 < count and key[child + 1] > key[child]:
            child += 1
        if key[child] <= mine:
            break
        key[place] = key[child]
        slot[place] = slot[child]
        place = child
        child = 2 * place + 1
    key[place] = mine
    slot[place] = mine_slot


@shared
def sift_up(key, slot, place):
    """Put the entry at `place` of a binary heap (largest key first) where it belongs above."""
    mine = key[place] + 0
    mine_slot = slot[place] + 0
    while place > 0:
        parent = (place - 1) >> 1
        if key[parent] >= mine:
            break
        key[place] = key[parent]
        slot[place] = slot[parent]
        place = parent
    key[place] = mine
    slot[place] = mine_slot


@shared
def heapify(key, slot, count):
    """Make a heap of the first `count` entries."""
    place = (count >> 1) - 1
    while place >= 0:
        sift_down(key, slot, place, count)
        place -= 1


@shared
def sort_falling(key, slot, count):
    """Sort the first `count` entries by falling key."""
    heapify(key, slot, count)
    # The largest goes to the end, so that they stand in rising order; then the order is turned.
    last = count - 1
    while last > 0:
        top = key[0] + 0
        top_slot = slot[0] + 0
        key[0] = key[last]
        slot[0] = slot[last]
        key[last] = top
        slot[last] = top_slot
        sift_down(key, slot, 0, last)
        last -= 1
    low = 0
    high = count - 1
    while low < high:
        top = key[low] + 0
        top_slot = slot[low] + 0
        key[low] = key[high]
        slot[low] = slot[high]
        key[high] = top
        slot[high] = top_slot
        low += 1
        high -= 1


@shared
def nth_largest(values, count, nth):
    """The value that `nth` of the first `count` are larger than or in front of (0: the largest); reorders them."""
    low = 0
    high = count - 1
    while low < high:
        pivot = values[(low + high) >> 1] + 0
        left = low
        right = high
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                value = values[left] + 0
                values[left] = values[right]
                values[right] = value
                left += 1
                right -= 1
        if nth <= right:
            high = right
        elif nth >= left:
            low = left
        else:
            return values[nth] + 0
    return values[nth] + 0
