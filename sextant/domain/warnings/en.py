"""The catalogue of warnings in English: a sentence for each code, and how its parameters are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sextant.domain.warnings.codes import WarningCode
from sextant.text.characters import count_noun

BETWEEN: str = ", "
BETWEEN_SENTENCES: str = " "
SAME_REASON: str = "for the same reason."

# Why text of a document was left out; these are counted in characters.
_REASONS = frozenset(
    {
        "struck through",
        "hidden",
        "not chosen in a list",
        "deleted under review",
        "in short sentences beside the main part",
        "in menus and feet of the page",
        "out of sight",
        "in a table of contents",
        "in page numbers",
        "in heads and feet that are repeated",
        "in running heads and feet",
        "in fonts without meaning",
    }
)


# The unit that the position of a part is counted in; by default slides.
_NUMBERED = {"damaged page": "page", "damaged line": "line"}


def quote(name: str) -> str:
    """Return a name in quotation marks."""
    return f"“{name}”"


def word_others(number: int) -> str:
    """Return how many further ones there are than are listed."""
    return f" and {number} more"


def word_aside(text: str) -> str:
    """Return a remark in brackets."""
    return f" ({text})"


def word_count(things: Mapping[str, Any]) -> str:
    """Return a number of things, and where some of them are."""
    number, noun = things["number"], things["noun"]
    if noun in _REASONS:
        return f"{number:,} {noun}"
    at = [str(one) for one in things["at"]]
    if at and isinstance(things["at"][0], int):
        at[0] = f"{_NUMBERED.get(noun, 'slide')} {at[0]}"
    where = f" ({', '.join([*at, *(['…'] if things['more'] else [])])})" if at else ""
    return f"{count_noun(number, noun)}{where}"


_READ_THEM = (
    "Install the extra `ocr` (docs/multimodal.md), then delete the document and ingest it again."
)

WORDINGS: Mapping[str, str] = {
    WarningCode.CAUSE: "{reason}",
    WarningCode.UNREADABLE_CHARACTERS: "{number} unreadable characters",
    WarningCode.ENCODING_GUESSED: "It was read as {encoding}, which may be wrong. If it reads badly, save the file "
    "as UTF-8 and add it again.",
    WarningCode.PAGES_OF_IMAGES: "{blank} of {pages} pages hold only images and were not read ({at}). "
    + _READ_THEM,
    WarningCode.PAGES_UNREADABLE: "{unmapped} of {pages} pages were left out ({at}): their fonts do not say which "
    "letters they draw. " + _READ_THEM,
    WarningCode.RUNNING_HEADS: "Left out as running heads and feet: {heads}{others}",
    WarningCode.ATTACHMENTS_NOT_READ: "{number} attachments were not read: {names}. Save them and add them by "
    "themselves.",
    WarningCode.FORMULAS_NOT_COMPUTED: "{number} cells hold formulas whose results were never saved, and are empty "
    "here. Open the workbook in its program, save it and add it again.",
    WarningCode.PARTS_NOT_READ: "Not read: {parts}",
    WarningCode.PARTS_DAMAGED: "Damaged or missing inside the file, and read only as far as that is possible: {parts}",
    WarningCode.TEXT_LEFT_OUT: "Characters left out, because the document takes them back, hides them or sets them "
    "aside: {characters}",
    WarningCode.FURNITURE_LEFT_OUT: "{percent} % of the text is around the document's own and was left out: "
    "{characters} (characters)",
    WarningCode.TEXT_MISSING: "{percent} % of the file's text ({number} letters and digits) was not read. Compare the "
    "document with the file; saving it anew in its program, or as another format, may help.",
    WarningCode.PARTS_MISSING: "{percent} % of the file's text ({number} letters and digits) was not read, most of it "
    "in: {parts}. Compare the document with the file; saving it anew in its program, or as another format, may help.",
    WarningCode.QUOTES_NOT_CLOSED: "Never closed: the quotation mark in {rows} (line {lines}). Each line was read "
    "as a row of its own; check it.",
    WarningCode.LINES_NOT_IMPORTED: "These are lines of an import, and were read as text: their documents, entities "
    "and relations are not in the graph. Delete this document, and bring the file in by `sextant import` "
    "(POST /api/graphs/…/import).",
    WarningCode.IMAGES_NOT_LOOKED_AT: "{images} not looked at: no vision model is configured. Set "
    "SEXTANT_VISION_MODEL to a model that takes images, then delete the document and ingest it again.",
    WarningCode.METAFILES_NOT_READ: "{images} not read: EMF and WMF are not. Save them as PNG in the document, then ingest it "
    "again.",
    WarningCode.IMAGES_NOT_DESCRIBED: "{failed} of {images} images were not described: {reason}",
    WarningCode.IMAGES_OVER_LIMIT: "{images} not looked at: of one document, {most} are. Raise "
    "SEXTANT_MULTIMODAL__DOCUMENT_IMAGES or SEXTANT_OCR__IMAGES, then delete the document and ingest it again.",
    WarningCode.OCR_OVER_LIMIT: "OCR has not read {things}: of one document it reads {most} pages. Split the file, or "
    "raise SEXTANT_OCR__PAGES.",
    WarningCode.OCR_FAILED: "OCR could not read {things}: {reason}",
    WarningCode.OCR_UNSURE: "OCR is not sure of what it read on {things}. Check against the original what is cited "
    "from there.",
    WarningCode.PASSAGES_NOT_READ: "The chat model has not read {missing} of {passages}{why}. They can be found; "
    "`sextant entities extract` reads them.",
    WarningCode.GRAPH_NOT_REFRESHED: "The knowledge graph was not brought up to date. {reason} Then run `sextant "
    "communities build`.",
    WarningCode.GRAPH_NOT_PROJECTED: "The knowledge graph is up to date, but Neo4j has not taken it over. {reason}",
    WarningCode.NAMES_NOT_COMPARED: "The chat model did not compare similar names: {reason}",
    WarningCode.ENTITIES_WITHOUT_VECTOR: "Without a vector, and so found by words alone: {entities}. A knowledge base "
    "embeds {most}. Raise SEXTANT_COMMUNITIES__ENTITY_VECTORS to embed more.",
    WarningCode.REPORTS_WITHOUT_MODEL: "Put together from sentences, not written by the chat model: {reports}. "
    "{reason} `sextant communities build --full` tries again.",
    WarningCode.DESCRIPTIONS_INCOMPLETE: "The chat model did not describe everything. {reason} `sextant chunks "
    "describe` goes on.",
    WarningCode.DESCRIPTIONS_FAILED: "The chat model failed at {descriptions}; what was extracted stays. `sextant "
    "chunks describe` asks again.",
    WarningCode.DESCRIPTIONS_OVER_BUDGET: "The budget is used up; passages and sections left to describe: {left}. "
    "Raise it, and run `sextant chunks describe` to go on.",
    WarningCode.EXTRACTION_OVER_BUDGET: "The budget is used up; left unread: {passages}. Raise it, and run `sextant "
    "entities extract` to go on.",
    WarningCode.EXTRACTION_STOPPED: "Stopped, since the chat model does not answer; left unread: {passages}. "
    "`sextant entities extract` goes on.",
    WarningCode.FACTS_NOT_STORED: "What the graph says of {entity} could not be stored as passages. {reason}",
    WarningCode.FACTS_CHANGING: "What the graph says of {entity} went on changing while it was written into passages. "
    "Import a line about it again.",
    WarningCode.VECTOR_LANE_FAILED: "Searching by meaning failed, so results are by keywords.",
    WarningCode.KEYWORD_LANE_FAILED: "Searching by keywords failed, so results are by meaning alone.",
    WarningCode.LANE_FAILED: "The lane {lane} failed; the others went on.",
    WarningCode.LANE_TIMED_OUT: "The lane {lane} was not done in time. Raise SEXTANT_RETRIEVAL__LANE_TIMEOUT, or check "
    "the load of the database and the embedding model.",
    WarningCode.EMBEDDING_FAILED: "Searching by meaning failed, so results are by words and the graph.",
    WarningCode.GRAPH_STORE_FAILED: "The graph store does not answer, so the results lack entities and relations.",
    WarningCode.NEO4J_UNAVAILABLE: "Neo4j does not answer, so the graph was searched in PostgreSQL. Start Neo4j, or "
    "check SEXTANT_NEO4J_URI; `sextant graph status` shows how it is.",
    WarningCode.NEO4J_BEHIND: "Neo4j does not have the latest graph yet, so the graph was searched in PostgreSQL. "
    "`sextant graph sync` brings Neo4j up to date.",
    WarningCode.INDEX_BEHIND: "The index is being brought up to date, so results are of what was there before. Ask "
    "again in a moment.",
    WarningCode.INDEX_BUILDING: "The index is being built for the first time, so results are without it. Ask again in "
    "a moment.",
    WarningCode.ENTITY_VECTOR_LANE_FAILED: "Searching entities by meaning failed, so results are by words.",
    WarningCode.ENTITY_TEXT_LANE_FAILED: "Searching entities by words failed, so results are by meaning and the graph.",
    WarningCode.ENTITY_GRAPH_LANE_FAILED: "Searching along relations failed, so results are by meaning and words.",
    WarningCode.VECTORS_MISSING: "Some passages have no vector yet, since embedding everything anew is not finished, "
    "and search by meaning may miss them; a worker goes on with it, or run `sextant reembed`.",
    WarningCode.KEYWORDS_MISSING: "The question has no keywords, so results are by meaning only.",
    WarningCode.PASSAGES_MISSING: "This knowledge base has no passages, and passages are what a question finds. Ingest "
    "documents, or import its graph again with --facts-as-passages (over HTTP factsAsPassages).",
    WarningCode.USER_WITHOUT_DOCUMENTS: "The vector store has no documents of this user: check user_id and user_field.",
    WarningCode.ENTITIES_NOT_NAMED: "The question names no entity of the graph, so results are by meaning and the graph.",
    WarningCode.REPORTS_MISSING: "There are no community reports yet, so passages were found by words and meaning; "
    "`sextant communities build` writes them.",
    WarningCode.REPORTS_NOT_FILTERED: "Community reports sum up all documents and cannot be filtered, so none are among "
    "the results.",
    WarningCode.FILTERS_UNKNOWN: "The filters name what this knowledge base does not have: {ids}. The list of its "
    "documents has their ids and sources.",
    WarningCode.TYPES_MISSPELT: "No entity of this knowledge base has the type that the filters name: {types}. Did you "
    "mean {near}?",
    WarningCode.TYPES_UNKNOWN: "No entity of this knowledge base has the type that the filters name: {types}. Its "
    "types: {known}.",
    WarningCode.TYPES_MISSING: "No entity of this knowledge base has the type that the filters name: {types}. It has no "
    "entities.",
    WarningCode.BM25_BUILDING: "The BM25 index is being built, so the order is without it. Ask again in a moment.",
    WarningCode.BM25_FAILED: "Ranking by BM25 failed, so the order is without it; the log has the reason.",
    WarningCode.RERANKER_MISSING: "No reranker is configured, so the order is that of fusion.",
    WarningCode.RERANKING_FAILED: "Reranking failed, so the order is as before: {reason}",
    WarningCode.RERANKING_INCOMPLETE: "Reranking failed, so the order is as before: {model} does not score every passage",
    WarningCode.RERANKING_TIMED_OUT: "Reranking took longer than {seconds} s, so the order is as before. Raise "
    "SEXTANT_RETRIEVAL__RERANK_TIMEOUT for more.",
    WarningCode.CALLS_USED_UP: "The answer reached its limit of {most} model calls (limits.model_calls) and was made of "
    "what there was. Raise SEXTANT_LIMITS__MODEL_CALLS for more.",
    WarningCode.TOKENS_USED_UP: "The answer reached its limit of {most} prompt tokens (limits.prompt_tokens) and was "
    "made of what there was. Raise SEXTANT_LIMITS__PROMPT_TOKENS for more.",
    WarningCode.TIME_USED_UP: "The answer reached its limit of {most} seconds (limits.answer_seconds) and was made of "
    "what there was. Raise SEXTANT_LIMITS__ANSWER_SECONDS for more.",
    WarningCode.JUDGED_BY_RULE: "Judged by rule, without the chat model: {reason}",
    WarningCode.TOO_SLOW_TO_JUDGE: "Judged by rule: the chat model would have taken about {seconds} seconds for it, and the "
    "answer needs its time. Raise SEXTANT_LIMITS__ANSWER_SECONDS, or set SEXTANT_ANSWERS__JUDGEMENTS=always.",
    WarningCode.TOO_SLOW_TO_ANSWER: "Quoted from the documents: the chat model would take about {seconds} seconds to answer. "
    "Raise SEXTANT_LIMITS__ANSWER_SECONDS above that, or choose a faster model.",
    WarningCode.NO_DOCUMENTS_USED: "Answered without looking at any document.",
    WarningCode.EFFORT_UNUSED: "No report was made: effort high searches documents, and the mode bypass uses none. Choose another mode for a report.",
    WarningCode.QUOTED_WITHOUT_MODEL: "The chat model failed, so the answer is quoted from the documents: {reason}",
    WarningCode.MODEL_DECLINED: "Quoted from the documents, since the cost of a written answer was not approved.",
    WarningCode.TABLES_NOT_COMPUTED: "Nothing was computed over tables of the documents: {reason}",
    WarningCode.ROWS_FILLED_UP: "{label}: rows of different length were filled up to {width} columns ({rows}).",
    WarningCode.VISION_MODEL_MISSING: "{labels}: no vision model is configured, so the image was not looked at; the "
    "answer comes from text. Set SEXTANT_VISION_MODEL to a model that takes images.",
    WarningCode.IMAGE_NOT_DESCRIBED: "{label}: the vision model did not describe the image, so it was left out: {reason}",
    WarningCode.IMAGE_CALLS_USED_UP: "{label}: the limit of model calls (limits.model_calls) is reached, so the image "
    "was left out. Raise SEXTANT_LIMITS__MODEL_CALLS.",
    WarningCode.IMAGE_TIMED_OUT: "{label}: the vision model did not answer in time, so the image was left out. Raise "
    "SEXTANT_MULTIMODAL__SECONDS, or check its load.",
    WarningCode.CONTEXT_SHORTENED: "The context was longer than the chat model can read, so it got less of it. Lower "
    "SEXTANT_LIMITS__CONTEXT_TOKENS, or choose a model with more context.",
    WarningCode.CONTEXT_SHORTENED_FOR_TIME: "The chat model reads about {rate} tokens a second, so it got fewer passages, to "
    "answer in time. Raise SEXTANT_LIMITS__ANSWER_SECONDS to give it more.",
    WarningCode.CONTEXT_CUT: "The chat model reads no more than {tokens} tokens and cuts longer prompts without a word, so it "
    "gets fewer passages. Raise its context at the endpoint (Ollama: OLLAMA_CONTEXT_LENGTH), then run `sextant doctor`.",
    WarningCode.ANSWER_CUT_OFF: "The answer was cut off at its token limit (limits.answer_tokens). Raise "
    "SEXTANT_LIMITS__ANSWER_TOKENS for more.",
    WarningCode.ANSWER_OUT_OF_TIME: "The answer was cut off at its time limit (limits.answer_seconds). Raise "
    "SEXTANT_LIMITS__ANSWER_SECONDS for more.",
    WarningCode.ANSWER_BROKEN_OFF: "The answer ends where the chat model failed: {reason}",
    WarningCode.THOUGHT_WITHDRAWN: "What came so far was the chat model's thought, not its answer.",
    WarningCode.REPORTS_NOT_READ: "The chat model could not read {unread}/{reports} of the reports: {reasons}",
    WarningCode.PASSAGES_OUTDATED: "Changed or removed after the search, and so not quoted: {passages}.",
    WarningCode.CITATIONS_NOT_COMPARED: "The citations could not be compared with the stored documents: {reason}",
    WarningCode.JUDGE_FAILED: "The model that judges citations failed, so they were judged by words: {reason}",
    WarningCode.JUDGE_TIMED_OUT: "The model that judges citations did not answer in time, so they were judged by words. "
    "Look into its load, or choose another SEXTANT_ANSWERS__JUDGE.",
    WarningCode.SENTENCES_REVISED: "{number} of the answer's sentences, which no passage carried, were rewritten or "
    "left out.",
    WarningCode.REVISION_FAILED: "Sentences that no passage carries could not be mended: {reason}",
    WarningCode.REVISION_OVER_LIMIT: "Sentences that no passage carries could not be mended: limits.{limit} is reached. "
    "Raise SEXTANT_LIMITS__{setting}.",
    WarningCode.CITED_DOCUMENT_CHANGED: "A cited document was changed or removed meanwhile; what only it said was left "
    "out.",
    WarningCode.CITATIONS_REMOVED: "Citations that do not carry their sentence were taken away.",
    WarningCode.ANSWER_REPLACED: "Nothing that the chat model wrote is carried by the documents, so they are quoted "
    "instead.",
    WarningCode.ANSWER_NOT_CONFIRMED: "No document says what the chat model wrote, so it is marked, and the documents "
    "are quoted below it.",
    WarningCode.ANSWER_IN_OTHER_LANGUAGE: "The chat model answered in another language than the question's.",
    WarningCode.LINE_IS_NO_LINE: "Not a line: give a dict, or JSON as bytes or text.",
    WarningCode.LINE_NOT_JSON: "Not JSON: {fault}, at character {place}.",
    WarningCode.LINE_NOT_UTF8: "Not JSON: no text in UTF-8, at byte {place}.",
    WarningCode.LINE_TOO_DEEP: "Not JSON that can be read: lists or objects in each other too deep.",
    WarningCode.LINE_NUMBER_TOO_LONG: "Not JSON that can be read: a number of more than {most} digits.",
    WarningCode.LINE_NO_OBJECT: "Not a JSON object.",
    WarningCode.LINE_FAULT: "{where}{fault}.",
    WarningCode.LINE_JOINS_ITSELF: "The {type} joins {entity} to itself.",
    WarningCode.LINE_SECTION_ENDS_BEFORE: "sections[{index}].start: {start} lies behind its end, {end}. Give both as offsets into the document's text, the smaller one first.",
    WarningCode.LINE_SECTION_BEYOND_TEXT: "sections[{index}].end: {end} lies beyond the document's text, which has {length} characters. Count characters, not bytes, and end at {length} at most.",
    WarningCode.LINE_KEY_MISSPELT: "{where}The key {key} is not known and was passed over. Did you mean {meant}?",
    WarningCode.LINE_KEY_UNKNOWN: "{where}The key {key} is not known and was passed over. Keys: {keys}.",
    WarningCode.LINE_PASSAGE_TOO_LONG: "text: {length} characters are much for one passage: by meaning it is found by about its first {most} tokens only. Cut it into several chunks.",
    WarningCode.LINE_TRIPLE_JOINS_ITSELF: "The triple {triple} joins an entity to itself.",
    WarningCode.LINE_REPLACES: "It takes the place of line {before}, which has the same id.",
    WarningCode.LINE_WITHOUT_DOCUMENT: "No line describes its document {document}.",
    WarningCode.LINE_ID_TAKEN: "The id {id} is that of {owner}. Give {entity} as an alias of it, or an id of its own.",
    WarningCode.LINE_ALIAS_SHARED: "Several entities have the alias {entity}; give the id of the one you mean.",
    WarningCode.LINE_ENTITY_UNKNOWN: "There is no entity {entity}.",
    WarningCode.LINE_ONE_ENTITY: "{source} and {target} are one entity.",
    WarningCode.LINE_CHUNK_UNKNOWN: "There is no chunk {chunk}.",
    WarningCode.LINE_DOCUMENT_EMPTY: "The document has neither text nor chunks.",
    WarningCode.LINE_CHUNK_ELSEWHERE: "Its chunk {chunk} does not stand at {said} of its text, where `start` puts it; it was put at {start}. Count characters, not bytes.",
    WarningCode.LINE_SECTION_UNKNOWN: "Its chunk {chunk} names section {section}, of {sections} (from 0); it was put in none.",
    WarningCode.LINE_KEYS_UNUSED: "Without chunks its text is cut as a text file's is; {keys} were passed over. Give its chunks, too, to keep them.",
    WarningCode.LINE_REJECTED: "{reason}",
    WarningCode.LINE_OVERTAKEN: "The document was replaced or deleted by somebody else, or its ingestion cancelled, while it was stored from here. If this is what it shall be, import it again.",
}
