"""Settings of questions: searches and their log, chat models, answers, images and tables, OCR, conversations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo

from sextant.domain.retrieval import MOST_PASSAGES
from sextant.domain.settings.serving import EndpointUrl, Folder, Group, Weight


class ModelSettings(Group):
    """The chat model of one role; empty settings are those of `answer` if it is the same model."""

    name: str | None = None
    """Model name at an OpenAI-compatible endpoint, or `provider:model` as LangChain's `init_chat_model` takes it."""
    base_url: EndpointUrl | None = None
    """Base URL of its endpoint."""
    api_key: SecretStr | None = None
    """Key of that endpoint; a key is never sent to another one."""
    temperature: float | None = Field(None, ge=0, le=2)
    """Temperature; empty: the endpoint's own."""
    reasoning_effort: str | None = Field(None, min_length=1)
    """How long it thinks, such as `low`; empty: as it does."""
    max_tokens: int | None = Field(None, ge=16)
    """Tokens of one reply; empty: limits.answer_tokens."""
    extra_body: dict[str, Any] | None = None
    """Further fields of each request as JSON; of another provider, arguments of LangChain's class."""


class RoleSettings(Group):
    """The chat models by role."""

    answer: ModelSettings = ModelSettings()
    """Writes answers and revises them; its name is also `chat_model`."""
    judge: ModelSettings = ModelSettings()
    """Reads questions, grades passages, plans further searches, reranks; empty: that of `answer`."""
    extract: ModelSettings = ModelSettings()
    """Reads documents: entities, descriptions, reports; empty: that of `answer`."""
    vision: ModelSettings = ModelSettings()
    """Looks at images; its name is also `vision_model`. Empty: images are not looked at."""


class AnswerSettings(Group):
    """How questions are judged and answers are checked (docs/answers.md)."""

    judgements: Literal["auto", "always", "never"] = "auto"
    """Whether the chat model judges questions and passages: `auto`, where the rules are unsure and it is known to be
    quick enough; `always`, at each step; `never`, rules alone do.
    """

    passage_tokens: int = Field(1800, ge=200)
    """Tokens of passages shown for each part of a question and each round of searching, at most limits.context_tokens
    in all; longer passages are shown by their sentences nearest to the question.
    """
    repair: bool = True
    """Let the chat model revise unsupported sentences, in one call; else they stay and are marked."""
    judge: str | None = None
    """What judges how far a quote supports its sentence: empty, the words they share; `reranker`, the configured
    reranker; or another cross-encoder in the same forms.
    """
    judge_threshold: float = 0.5
    """The judge's score from which a sentence counts as supported."""


class MultimodalSettings(Group):
    """Images and tables that come with a question, and images inside of documents."""

    image_dir: Folder | None = None
    """Folder whose images a question may name by `img_path`; empty: none, over HTTP."""
    images: int = Field(4, ge=0, le=16)
    """Images of one question."""
    tables: int = Field(4, ge=0, le=16)
    """Tables of one question."""
    image_bytes: int = Field(10_000_000, ge=1)
    """Largest image."""
    image_pixels: int = Field(40_000_000, ge=1)
    """Most pixels of an image."""
    image_edge: int = Field(1536, ge=64, le=8192)
    """Longest edge of an image as the vision model sees it."""
    table_chars: int = Field(5_000_000, ge=1)
    """Longest text of a table in a question."""
    seconds: float = Field(30.0, gt=0)
    """Time for looking at the images of a question."""
    document_images: int = Field(50, ge=0)
    """Images of one document that the vision model describes."""


class OcrSettings(Group):
    """OCR of scanned pages and of words in pictures (extra `ocr`)."""

    pages: int = Field(500, ge=0)
    """Pages of one document that OCR reads; 0: OCR is off."""
    images: int = Field(30, ge=0)
    """Pictures inside of one document whose words OCR reads."""
    page_seconds: int = Field(60, ge=1)
    """CPU time for one page; one that takes longer is left out."""
    memory_bytes: int = Field(1_500_000_000, ge=500_000_000)
    """Memory of the process that reads a page, beyond the models."""
    concurrency: int = Field(0, ge=0, le=64)
    """Pages read at a time; 0: as many as there are cores and gigabytes of free memory."""
    sure: float = Field(0.8, ge=0, le=1)
    """Confidence of a page's characters; below, a warning says that the page should be checked."""


class ConversationSettings(Group):
    """Storage of conversations (docs/conversations.md)."""

    turns: int = Field(200, ge=1)
    """Questions with their answers that a conversation keeps; the newest."""
    days: float = Field(90.0, gt=0)
    """Days without a question after which a conversation is deleted."""


def _wide_enough(width: int, info: ValidationInfo) -> int:
    """Check that the build width is at least twice the neighbours, as pgvector requires."""
    neighbours = str(info.field_name).replace("ef_construction", "m")
    most = info.data.get(neighbours)
    if most is not None and width < 2 * most:
        message = f"it must be at least twice {neighbours}, which is {most}"
        raise ValueError(message)
    return width


# The ranges of pgvector.
_Neighbours = Annotated[int, Field(ge=2, le=100)]
_BuildWidth = Annotated[
    int, Field(ge=4, le=1000, validate_default=True), AfterValidator(_wide_enough)
]


class RetrievalSettings(Group):
    """Constants of retrieval."""

    top_k: int = Field(10, ge=1, le=MOST_PASSAGES)
    """Passages handed to the answer."""
    min_similarity: float = Field(0.3, ge=0, le=1)
    """Vector hits below this cosine are dropped (HybridRetriever)."""
    rrf_k: int = Field(60, ge=1)
    """The k of reciprocal rank fusion."""
    vector_weight: Weight = 0.7
    """Weight of the vector lane in fusion."""
    keyword_weight: Weight = 0.3
    """Weight of the keyword lane in fusion."""
    max_keywords: int = Field(10, ge=1, le=50)
    """Keywords taken from one question."""
    hnsw_ef_search: int = Field(200, ge=10, le=1000)
    """Least width of the HNSW search over passages; from 20,000 on it is a hundredth of them."""
    hnsw_m: _Neighbours = 8
    """Neighbours of a passage in an HNSW index; counts for indexes built from then on."""
    hnsw_ef_construction: _BuildWidth = 128
    """Width of the search for them while it is built, at least twice as much."""
    entity_ef_search: int = Field(100, ge=10, le=1000)
    """Width of the HNSW search over entities."""
    entity_m: _Neighbours = 16
    """Neighbours of an entity in an HNSW index of PostgreSQL; counts for indexes built from then on."""
    entity_ef_construction: _BuildWidth = 64
    """Width of the search for them while it is built, at least twice as much."""
    exact_below: int = Field(5000, ge=0)
    """Scopes with fewer chunks are searched exactly, without HNSW."""
    lane_timeout: float = Field(10.0, gt=0)
    """Seconds after which one lane is given up."""
    index_passages: int = Field(200_000, ge=0)
    """Passages of which the graph modes keep words, graph and reports in memory, over all scopes; about 2 KB each."""
    index_vectors: int = Field(20_000, ge=0)
    """Passages up to which a scope's vectors are kept with them, 1.5 KB each; of a larger scope PostgreSQL is asked.
    """
    index_idle: float = Field(3600.0, gt=0)
    """Seconds after which an index in memory that nobody asks is let go."""
    bm25_rerank: bool = True
    """HybridRetriever and the search of chunks order what their lanes found by BM25, too."""
    bm25_fusion: Literal["linear", "rrf"] = "linear"
    """Weighted sum of similarity and BM25, each brought to 0..1; or a second reciprocal rank fusion."""
    bm25_vector_weight: Weight = 0.7
    """Weight of the similarity beside BM25."""
    bm25_weight: Weight = 0.3
    """Weight of BM25."""
    bm25_k1: Weight = 1.2
    """How long repetitions of a term count for BM25."""
    bm25_b: float = Field(0.75, ge=0, le=1)
    """How much a text's length counts for BM25."""
    bm25_memory: int = Field(256_000_000, ge=0)
    """Bytes of BM25 indexes kept over all users; 2 to 10 KB a passage."""
    bm25_at_start: bool = False
    """Build the BM25 index when a HybridRetriever is opened, before the first question."""
    rerank_timeout: float = Field(5.0, gt=0)
    """Seconds after which a reranker is late and the order stays as it was."""
    rerank_pairs: int = Field(50, ge=1, le=1000)
    """Passages that a reranker reads at most."""
    rerank_chars: int = Field(2000, ge=1)
    """Characters of a passage that a reranker reads."""
    slow_ms: float = Field(500.0, gt=0)
    """A retrieval slower than this is logged as a warning."""


class ChunkSearchSettings(Group):
    """The weights of the ranking `balanced` of the chunk search, and the reranker's share."""

    vector_weight: Weight = 0.50
    """α, weight of similarity to the question."""
    keyword_weight: Weight = 0.25
    """β, weight of the question's keywords."""
    hierarchy_weight: Weight = 0.05
    """γ, weight of the titles above."""
    recency_weight: Weight = 0.02
    """δ, weight of time decay."""
    topic_weight: Weight = 0.08
    """ε, weight of topics, keywords and entities."""
    modality_weight: Weight = 0.05
    """ζ, weight of being a table or image where one is asked for."""
    neighbour_weight: Weight = 0.05
    """η, weight of what is found beside it."""
    half_life: float = Field(365.0, gt=0)
    """Days after which half of a passage's recency is left."""
    rerank_share: float = Field(0.4, ge=0, le=1)
    """The reranker's part of a score; the seven signals have the rest."""


class EntitySearchSettings(Group):
    """Searching entities."""

    vector_weight: Weight = 0.5
    """Weight of the lane of meaning."""
    fts_weight: Weight = 0.3
    """Weight of the full-text lane."""
    graph_weight: Weight = 0.2
    """Weight of the graph lane."""
    threshold: float = Field(0.5, ge=-1, le=1)
    """Vector hits up to this cosine are dropped."""
    candidates: int = Field(20, ge=1, le=200)
    """Hits of the vector and full-text lanes."""
    seeds: int = Field(5, ge=0, le=50)
    """Best vector hits that the graph lane starts from."""
    depth: int = Field(2, ge=1, le=4)
    """Levels of the graph lane."""
    neighbours: int = Field(10, ge=1, le=100)
    """New entities that the graph lane takes from a level."""
    decay: float = Field(0.7, ge=0, le=1)
    """What each level leaves of a relation's weight."""
    bonus: float = Field(0.02, ge=0)
    """Added for each further lane that agrees."""
    related: int = Field(5, ge=1, le=20)
    """Related entities shown with a result."""
    cache_seconds: float = Field(300.0, ge=0)
    """How long a ranking is kept for the same search; a write ends it."""


class SearchLogSettings(Group):
    """The log of searches and what they returned (`sextant searches`)."""

    enabled: bool = False
    """Keep searches with the ids and scores of their results, to look into later; no text of documents."""
    days: int = Field(30, ge=1, le=3650)
    """Days for which a search is kept."""
