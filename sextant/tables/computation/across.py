"""What several columns of one row add up to: "in all quarters", 三科总分, 收入和支出一共."""

from __future__ import annotations

import re

from sextant.tables.cells.computing import Operation
from sextant.tables.cells.values import ValueKind
from sextant.tables.computation.asked import Asked, QuestionParts
from sextant.tables.question.wording import OPERATIONS
from sextant.text.number_words import chinese_number

# A column that is called by its time does not tell what its numbers are.
OF_PERIOD = re.compile(
    r"(?:q[1-4]|h[12]|(?:19|20)\d\d年?|第?[一二三四]季度|\d{1,2}月|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?"
    r"|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$",
    re.IGNORECASE,
)
_ALL_PERIODS = re.compile(
    r"\b(?:(?:in|over|for|across|during) )?"
    r"(?:all (?:of )?(?:the )?(?:\w+ )?(?:quarters|months|years)|the (?:whole|entire|full) year)\b"
    r"|全年|[一整]年|(?:所有|全部|各个?|[两三四]个?|十二个)(?:季度|月)"
)
_ALL_SUBJECTS = re.compile(r"(?P<many>[两二三四五六七八九\d])[科门](?:课程?)?|[各全]科|总分")
_FEWEST = 2


def across_of(read: QuestionParts) -> Asked | None:
    """Return the sum of the columns that a question names, or of all that are alike, in the one row that it names.

    None where it asks for anything else, or it is not sure which columns it means.
    """
    one_row = len(read.conditions) == 1 and read.is_of_one(read.conditions[0])
    sums = OPERATIONS[Operation.SUM].search(read.text) or _ALL_PERIODS.search(read.text)
    if not one_row or read.grouped or not (sums or _ALL_SUBJECTS.search(read.text)):
        return None
    columns = [at for at in read.named_of(ValueKind.NUMBER) if at not in read.bound]
    columns = columns or _alike(read)
    units = {read.columns[at].unit for at in columns}
    if len(columns) < _FEWEST or len(units) != 1 or None in units:
        return None
    first, *others = columns
    subject = read.conditions[0].column
    return Asked(Operation.ACROSS, first, read.conditions, subject, also=tuple(others))


def _alike(read: QuestionParts) -> list[int]:
    """Return all columns of numbers: where each is called by its period, or they are the subjects that were examined."""
    numbers = read.of_kind(ValueKind.NUMBER)
    if not read.telling:
        return []
    periods = [at for at in numbers if OF_PERIOD.match(read.columns[at].name)]
    if periods == numbers or _ALL_PERIODS.search(read.text):
        return periods
    if subjects := _ALL_SUBJECTS.search(read.text):
        many = subjects["many"]
        whole = not many or (int(many) if many.isdigit() else chinese_number(many)) == len(numbers)
        return numbers if whole else []
    return []


def without_periods(text: str) -> str:
    """Return a normalised question without what only says that all periods or subjects are meant."""
    return _ALL_SUBJECTS.sub(" ", _ALL_PERIODS.sub(" ", text))
