"""What documents are asked about besides what a table has answered."""

import pytest

from sextant.domain.questions import Attachment, AttachmentKind
from sextant.nodes.answers.computed import find_table_rows
from sextant.nodes.citing.attached import attachment_items
from sextant.tables.results.written import ComputedFinding


@pytest.mark.parametrize(
    ("about", "names"),
    [("BM-40", ["BM-40"]), ("胰岛素", ["胰岛素"]), ("2月", []), ("2024-05-02", []), ("12", [])],
)
def test_a_row_that_is_called_by_a_number_or_a_date_is_no_name_to_search_for(
    about: str, names: list[str]
) -> None:
    found = ComputedFinding("the largest is 9", "r1c2", "9", about)
    table = Attachment(
        AttachmentKind.TABLE, "T1", "", names=("a", "b"), rows=((about, "9"),), findings=(found,)
    )
    assert find_table_rows(attachment_items([table], "zh", 500)) == names
