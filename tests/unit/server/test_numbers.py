"""Numbers in requests: JSON numbers, and nothing that only looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from sextant.server.schemas.answers import QueryRequest, SearchBody
from sextant.server.schemas.graphs import EntitySearchBody
from sextant.server.schemas.wire import Wire


@pytest.mark.parametrize("number", ["5", True, None, 1.5])
@pytest.mark.parametrize(
    ("body", "field"), [(QueryRequest, "topK"), (EntitySearchBody, "topK"), (SearchBody, "limit")]
)
def test_how_many_is_a_whole_number(body: type[Wire], field: str, number: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        body.model_validate({"query": "付款", field: number})
    assert refused.value.errors()[0]["loc"] == (field,)


@pytest.mark.parametrize("weight", ["0.5", True, None, -1, float("nan"), float("inf")])
def test_a_weight_is_a_number_that_can_weigh(weight: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        EntitySearchBody.model_validate({"query": "付款", "weights": {"fts": weight}})
    assert refused.value.errors()[0]["loc"] == ("weights", "fts")


def test_a_weight_may_be_written_as_a_whole_number() -> None:
    read = EntitySearchBody.model_validate({"query": "付款", "weights": {"vector": 1, "graph": 0}})
    weights = read.options().weights
    assert weights is not None
    assert weights.by_lane == {"vector": 1, "fts": 0.3, "graph": 0}
