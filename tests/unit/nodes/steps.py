"""A question on its way through the loop, and what a step makes of it."""

from langgraph.runtime import Runtime

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.context import RunContext
from sextant.nodes.grade import grade
from sextant.nodes.refine import refine
from sextant.nodes.state import State
from tests.unit.nodes.conftest import item

SYMPTOMS = item("糖尿病的主要症状是多饮、多尿和体重下降。", "guide.md")
WEATHER = item("今天天气很好。", "weather.md", 0.4)
QUESTION = State(
    query="糖尿病的主要症状是什么？",
    question="糖尿病的主要症状是什么？",
    search="糖尿病的主要症状是什么？",
    language="zh",
    strategy="naive",
    keywords=["糖尿病", "主要症状", "症状"],
)
ALL = ("vector", "keyword", "local", "reports", "global", "mix")
PAST = 1.0
PARTS = ["症状有哪些？", "何时就医？"]
MOUNDS = item("Pocahontas Mounds is an archaeological site in Mississippi.", "mounds", 0.9)
STATE = item("Mississippi became the 20th state of the Union.", "state", 0.8)
HOPS = State(
    question="When did the state where Pocahontas Mounds is located become part of the Union?",
    search="x",
    strategy="mix",
    searched=["x"],
    items=[MOUNDS],
    graph_items=[
        RetrievedItem(ItemKind.ENTITY, name, name, 0.5, metadata={"name": name, "type": "PLACE"})
        for name in ("Pocahontas Mounds", "Mississippi", "London")
    ],
)


def after(state: State, **changes: object) -> State:
    return State(**{**vars(state), **changes})


async def graded(state: State, runtime: Runtime[RunContext]) -> State:
    return after(state, **await grade(state, runtime))


async def refined(state: State, runtime: Runtime[RunContext]) -> State:
    return after(state, **await refine(state, runtime))
