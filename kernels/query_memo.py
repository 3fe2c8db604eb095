"""Questions to a slow language model: those that were answered before, and each of the others once.

A query is a row of word ids. The memo is direct-mapped: a row has one place, and a newer row takes it.
"""

from gpusearch.kernels.language_tables import find_row, first_place
from gpusearch.kernels.target import cpu_driver, shared


@shared
def recall_rows(queries, memo, answer, value, number, table, distinct):
    """Values of the queries that the memo answers; the others are numbered, equal ones alike.

    Args:
        queries: int32[n, k].
        memo, answer: int32[m, k] and int32[m], the memo's rows and their values.
        value: int32[n], filled in where the memo knows it.
        number: int32[n], index into ``distinct``, -1 where ``value`` is filled in.
        table: int32, more than n places, all -1; scratch.
        distinct: int32[n], rows of the queries to be asked.

    Returns:
        How many are to be asked.
    """
    asked = 0
    columns = queries.shape[1]
    for row in range(queries.shape[0]):
        place = first_place(queries, row, 0, columns, memo.shape[0])
        column = 0
        while column < columns and memo[place, column] == queries[row, column]:
            column += 1
        if column == columns:
            value[row] = answer[place]
            number[row] = -1
            continue
        place = find_row(table, queries, queries, row, 0, columns)
        if table[place] < 0:
            table[place] = row
            distinct[asked] = row
            number[row] = asked
            asked += 1
        else:
            number[row] = number[table[place]]
    return asked


@shared
def memorize_rows(queries, memo, answer, answers, number, distinct, asked, value):
    """Put the answers to ``queries[distinct[:asked]]`` in their places: into ``value`` and into the memo."""
    columns = queries.shape[1]
    for row in range(queries.shape[0]):
        if number[row] >= 0:
            value[row] = answers[number[row]]
    for k in range(asked):
        row = distinct[k] + 0
        place = first_place(queries, row, 0, columns, memo.shape[0])
        for column in range(columns):
            memo[place, column] = queries[row, column]
        answer[place] = answers[k]


recall_rows_cpu = cpu_driver(recall_rows)
memorize_rows_cpu = cpu_driver(memorize_rows)
