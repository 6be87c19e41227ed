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
    WarningCode.ENCODING_GUESSED: "The encoding was guessed as {encoding}. If the text looks wrong, save the file "
    "as UTF-8 and add it again.",
    WarningCode.PAGES_OF_IMAGES: "{blank} of {pages} pages hold only images and were not read ({at}). "
    + _READ_THEM,
    WarningCode.PAGES_UNREADABLE: "{unmapped} of {pages} pages were left out ({at}): their fonts do not say which "
    "characters they draw. " + _READ_THEM,
    WarningCode.RUNNING_HEADS: "Left out as page headers and footers: {heads}{others}",
    WarningCode.ATTACHMENTS_NOT_READ: "{number} attachments were not read: {names}. Save them and add them "
    "separately.",
    WarningCode.FORMULAS_NOT_COMPUTED: "{number} cells are empty because the results of their formulas were never saved. "
    "Open the workbook in its program, save it and add it again.",
    WarningCode.PARTS_NOT_READ: "Not read: {parts}",
    WarningCode.PARTS_DAMAGED: "Damaged or missing in the file, and read as far as possible: {parts}",
    WarningCode.TEXT_LEFT_OUT: "Characters left out because they are deleted, hidden or not part of the main "
    "text: {characters}",
    WarningCode.FURNITURE_LEFT_OUT: "{percent} % of the text surrounds the main text and was left out: "
    "{characters} (characters)",
    WarningCode.TEXT_MISSING: "{percent} % of the file's text ({number} letters and digits) was not read. Compare the "
    "document with the file. Saving it again in its program, or in another format, may help.",
    WarningCode.PARTS_MISSING: "{percent} % of the file's text ({number} letters and digits) was not read, most of it "
    "in: {parts}. Compare the document with the file. Saving it again in its program, or in another format, may help.",
    WarningCode.QUOTES_NOT_CLOSED: "A quotation mark is never closed in {rows} (line {lines}). Each line was read "
    "as a separate row. Check these rows.",
    WarningCode.LINES_NOT_IMPORTED: "This file has the format of `sextant import` but was read as text, so its documents, entities "
    "and relations are not in the graph. Delete this document and import the file with `sextant import` "
    "(POST /api/graphs/…/import).",
    WarningCode.IMAGES_NOT_LOOKED_AT: "{images} not read: no vision model is configured. Set "
    "SEXTANT_VISION_MODEL to a model that takes images, then delete the document and ingest it again.",
    WarningCode.METAFILES_NOT_READ: "{images} not read: EMF and WMF are not supported. Save them as PNG in the document, then "
    "ingest it again.",
    WarningCode.IMAGES_NOT_DESCRIBED: "{failed} of {images} images were not described: {reason}",
    WarningCode.IMAGES_OVER_LIMIT: "{images} not read: the limit is {most} per document. Raise "
    "SEXTANT_MULTIMODAL__DOCUMENT_IMAGES or SEXTANT_OCR__IMAGES, then delete the document and ingest it again.",
    WarningCode.OCR_OVER_LIMIT: "OCR has not read {things}: the limit is {most} pages per document. Split the file, or "
    "raise SEXTANT_OCR__PAGES.",
    WarningCode.OCR_FAILED: "OCR could not read {things}: {reason}",
    WarningCode.OCR_UNSURE: "OCR is not sure of what it read on {things}. Check citations from there against the "
    "original.",
    WarningCode.PASSAGES_NOT_READ: "The chat model has not read {missing} of {passages}{why}. They can be searched; "
    "`sextant entities extract` reads them.",
    WarningCode.GRAPH_NOT_REFRESHED: "The knowledge graph was not updated. {reason} Then run `sextant "
    "communities build`.",
    WarningCode.GRAPH_NOT_PROJECTED: "The knowledge graph is up to date, but its copy in Neo4j is not. {reason}",
    WarningCode.NAMES_NOT_COMPARED: "The chat model did not compare similar names: {reason}",
    WarningCode.ENTITIES_WITHOUT_VECTOR: "These have no vector and are searched by words only: {entities}. A knowledge base "
    "embeds at most {most}. Raise SEXTANT_COMMUNITIES__ENTITY_VECTORS to embed more.",
    WarningCode.REPORTS_WITHOUT_MODEL: "Assembled from sentences, not written by the chat model: {reports}. "
    "{reason} `sextant communities build --full` tries again.",
    WarningCode.DESCRIPTIONS_INCOMPLETE: "The chat model did not describe everything. {reason} `sextant chunks "
    "describe` continues.",
    WarningCode.DESCRIPTIONS_FAILED: "The chat model failed at {descriptions}; the extracted ones are kept. `sextant "
    "chunks describe` tries again.",
    WarningCode.DESCRIPTIONS_OVER_BUDGET: "The budget is used up. Passages and sections not yet described: {left}. "
    "Raise it, and run `sextant chunks describe` to continue.",
    WarningCode.EXTRACTION_OVER_BUDGET: "The budget is used up. Not yet read: {passages}. Raise it, and run `sextant "
    "entities extract` to continue.",
    WarningCode.EXTRACTION_STOPPED: "Stopped because the chat model does not answer. Not yet read: {passages}. "
    "`sextant entities extract` continues.",
    WarningCode.FACTS_NOT_STORED: "The facts about {entity} could not be stored as passages. {reason}",
    WarningCode.FACTS_CHANGING: "The facts about {entity} kept changing while they were stored as passages. "
    "Import a line about it again.",
    WarningCode.VECTOR_LANE_FAILED: "Vector search failed; the results come from keyword search.",
    WarningCode.KEYWORD_LANE_FAILED: "Keyword search failed; the results come from vector search.",
    WarningCode.LANE_FAILED: "The search lane {lane} failed; the results come from the others.",
    WarningCode.LANE_TIMED_OUT: "The search lane {lane} did not finish in time. Raise SEXTANT_RETRIEVAL__LANE_TIMEOUT, or check "
    "the load of the database and the embedding model.",
    WarningCode.EMBEDDING_FAILED: "Vector search failed; the results come from keywords and the graph.",
    WarningCode.GRAPH_STORE_FAILED: "The graph store does not answer; the results have no entities and relations.",
    WarningCode.NEO4J_UNAVAILABLE: "Neo4j does not answer, so the graph was searched in PostgreSQL. Start Neo4j, or "
    "check SEXTANT_NEO4J_URI; `sextant graph status` shows its state.",
    WarningCode.NEO4J_BEHIND: "Neo4j does not have the latest graph yet, so the graph was searched in PostgreSQL. "
    "`sextant graph sync` updates Neo4j.",
    WarningCode.INDEX_BEHIND: "The index is being updated, so the results are from before the update. Ask "
    "again in a moment.",
    WarningCode.INDEX_BUILDING: "The index is being built for the first time and was not used. Ask again in "
    "a moment.",
    WarningCode.ENTITY_VECTOR_LANE_FAILED: "Vector search of entities failed; the results come from full-text search.",
    WarningCode.ENTITY_TEXT_LANE_FAILED: "Full-text search of entities failed; the results come from vectors and the graph.",
    WarningCode.ENTITY_GRAPH_LANE_FAILED: "Graph traversal failed; the results come from vector and full-text search.",
    WarningCode.VECTORS_MISSING: "Some passages have no vector yet because re-embedding is not finished, so vector "
    "search may miss them. A worker continues it; or run `sextant reembed`.",
    WarningCode.KEYWORDS_MISSING: "The question has no keywords; the results come from vector search.",
    WarningCode.PASSAGES_MISSING: "This knowledge base has no passages to search. Ingest "
    "documents, or import its graph again with --facts-as-passages (over HTTP factsAsPassages).",
    WarningCode.USER_WITHOUT_DOCUMENTS: "The vector store has no documents of this user: check user_id and user_field.",
    WarningCode.ENTITIES_NOT_NAMED: "The question names no entity of the graph; the results are ranked by similarity and the graph.",
    WarningCode.REPORTS_MISSING: "There are no community reports yet; the passages come from keyword and vector search. "
    "`sextant communities build` writes the reports, where the graph has related entities.",
    WarningCode.REPORTS_NOT_FILTERED: "Community reports cover all documents and cannot be filtered, so the results have "
    "none.",
    WarningCode.FILTERS_UNKNOWN: "This knowledge base has no document or section with these filters: {ids}. The list of its "
    "documents shows their ids and sources.",
    WarningCode.TYPES_MISSPELT: "No entity of this knowledge base has the type that the filters name: {types}. Did you "
    "mean {near}?",
    WarningCode.TYPES_UNKNOWN: "No entity of this knowledge base has the type that the filters name: {types}. Its "
    "types: {known}.",
    WarningCode.TYPES_MISSING: "No entity of this knowledge base has the type that the filters name: {types}. It has no "
    "entities.",
    WarningCode.BM25_BUILDING: "The BM25 index is being built, so results are ranked without it. Ask again in a moment.",
    WarningCode.BM25_FAILED: "Ranking by BM25 failed, so results are ranked without it. The log has the reason.",
    WarningCode.RERANKER_MISSING: "No reranker is configured; the results keep the order of fusion.",
    WarningCode.RERANKING_FAILED: "Reranking failed; the results keep their order: {reason}",
    WarningCode.RERANKING_INCOMPLETE: "Reranking failed; the results keep their order: {model} does not score every passage",
    WarningCode.RERANKING_TIMED_OUT: "Reranking took longer than {seconds} s; the results keep their order. To allow more "
    "time, raise SEXTANT_RETRIEVAL__RERANK_TIMEOUT.",
    WarningCode.CALLS_USED_UP: "The answer reached its limit of {most} model calls (limits.model_calls) and uses what "
    "was found until then. Raise SEXTANT_LIMITS__MODEL_CALLS for more.",
    WarningCode.TOKENS_USED_UP: "The answer reached its limit of {most} prompt tokens (limits.prompt_tokens) and uses "
    "what was found until then. Raise SEXTANT_LIMITS__PROMPT_TOKENS for more.",
    WarningCode.TIME_USED_UP: "The answer reached its limit of {most} seconds (limits.answer_seconds) and uses what "
    "was found until then. Raise SEXTANT_LIMITS__ANSWER_SECONDS for more.",
    WarningCode.JUDGED_BY_RULE: "Judged by rules, without the chat model: {reason}",
    WarningCode.TOO_SLOW_TO_JUDGE: "Judged by rules: the chat model needs about {seconds} seconds to judge, and the answer should "
    "begin within {most}. Raise SEXTANT_LIMITS__FIRST_WORDS_SECONDS, or set SEXTANT_ANSWERS__JUDGEMENTS=always.",
    WarningCode.TOO_SLOW_TO_ANSWER: "Quoted from the documents: the chat model needs about {seconds} seconds to answer. "
    "Raise SEXTANT_LIMITS__ANSWER_SECONDS above that, or choose a faster model.",
    WarningCode.NO_DOCUMENTS_USED: "Answered without any document.",
    WarningCode.EFFORT_UNUSED: "No report was made: effort high searches documents, and the mode bypass uses none. Choose another mode for a report.",
    WarningCode.QUOTED_WITHOUT_MODEL: "The chat model failed, so the answer is quoted from the documents: {reason}",
    WarningCode.MODEL_DECLINED: "Quoted from the documents, because the cost of a written answer was not approved.",
    WarningCode.TABLES_NOT_COMPUTED: "Nothing was computed over the documents' tables: {reason}",
    WarningCode.ROWS_FILLED_UP: "{label}: rows of different lengths were padded to {width} columns ({rows}).",
    WarningCode.VISION_MODEL_MISSING: "{labels}: no vision model is configured, so the image was not read; the "
    "answer uses text only. Set SEXTANT_VISION_MODEL to a model that takes images.",
    WarningCode.IMAGE_NOT_DESCRIBED: "{label}: the vision model did not describe the image, so it was left out: {reason}",
    WarningCode.IMAGE_CALLS_USED_UP: "{label}: the limit of model calls (limits.model_calls) is reached, so the image "
    "was left out. Raise SEXTANT_LIMITS__MODEL_CALLS.",
    WarningCode.IMAGE_TIMED_OUT: "{label}: the vision model did not answer in time, so the image was left out. Raise "
    "SEXTANT_MULTIMODAL__SECONDS, or check its load.",
    WarningCode.CONTEXT_SHORTENED: "The context was longer than the chat model can read and was shortened. Lower "
    "SEXTANT_LIMITS__CONTEXT_TOKENS, or choose a model with more context.",
    WarningCode.CONTEXT_SHORTENED_FOR_TIME: "The chat model reads about {rate} tokens a second, so it got fewer passages to "
    "answer in time. Raise SEXTANT_LIMITS__{limit} to give it more.",
    WarningCode.CONTEXT_CUT: "The chat model reads no more than {tokens} tokens and silently cuts longer prompts, so it "
    "got fewer passages. Raise its context at the endpoint (Ollama: OLLAMA_CONTEXT_LENGTH), then run `sextant doctor`.",
    WarningCode.ANSWER_CUT_OFF: "The answer was cut off at its token limit (limits.answer_tokens). Raise "
    "SEXTANT_LIMITS__ANSWER_TOKENS for more.",
    WarningCode.ANSWER_OUT_OF_TIME: "The answer was cut off at its time limit (limits.answer_seconds). Raise "
    "SEXTANT_LIMITS__ANSWER_SECONDS for more.",
    WarningCode.ANSWER_BROKEN_OFF: "The answer ends where the chat model failed: {reason}",
    WarningCode.THOUGHT_WITHDRAWN: "The text so far was the chat model's reasoning, not its answer.",
    WarningCode.REPORTS_NOT_READ: "The chat model could not read {unread} of {reports} reports: {reasons}",
    WarningCode.PASSAGES_OUTDATED: "Not quoted, because they were changed or removed after the search: {passages}.",
    WarningCode.CITATIONS_NOT_COMPARED: "The citations could not be checked against the stored documents: {reason}",
    WarningCode.JUDGE_FAILED: "The judge model failed, so citations were checked by rules: {reason}",
    WarningCode.JUDGE_TIMED_OUT: "The judge model did not answer in time, so citations were checked by rules. "
    "Check its load, or choose another SEXTANT_ANSWERS__JUDGE.",
    WarningCode.SENTENCES_REVISED: "{number} sentences of the answer that no passage supports were rewritten or "
    "removed.",
    WarningCode.REVISION_FAILED: "Sentences that no passage supports could not be revised: {reason}",
    WarningCode.REVISION_OVER_LIMIT: "Sentences that no passage supports could not be revised: limits.{limit} is reached. "
    "Raise SEXTANT_LIMITS__{setting}.",
    WarningCode.CITED_DOCUMENT_CHANGED: "A cited document was changed or removed meanwhile; statements that only it supports were "
    "removed.",
    WarningCode.CITATIONS_REMOVED: "Citations that do not support their sentence were removed.",
    WarningCode.ANSWER_REPLACED: "The documents support nothing that the chat model wrote, so they are quoted "
    "instead.",
    WarningCode.ANSWER_NOT_CONFIRMED: "No document confirms what the chat model wrote, so its text is marked, and the documents "
    "are quoted below it.",
    WarningCode.ANSWER_IN_OTHER_LANGUAGE: "The chat model did not answer in the language of the question.",
    WarningCode.LINE_IS_NO_LINE: "Not a line: give a dict, or JSON as bytes or text.",
    WarningCode.LINE_NOT_JSON: "Not JSON: {fault}, at character {place}. Check quotation marks, commas and brackets.",
    WarningCode.LINE_NOT_UTF8: "Not JSON: byte {place} is not UTF-8. Save the file as UTF-8.",
    WarningCode.LINE_TOO_DEEP: "The JSON cannot be read: its lists or objects are nested too deeply. Nest them less.",
    WarningCode.LINE_NUMBER_TOO_LONG: "The JSON cannot be read: a number has more than {most} digits. Write it as text.",
    WarningCode.LINE_NO_OBJECT: "Not a JSON object. Each line must be one, {{…}}.",
    WarningCode.LINE_FAULT: "{where}{fault}.",
    WarningCode.LINE_JOINS_ITSELF: "The {type} connects {entity} with itself. Name two different entities.",
    WarningCode.LINE_SECTION_ENDS_BEFORE: "sections[{index}].start: {start} lies after its end, {end}. Give both as offsets into the document's text, the smaller one first.",
    WarningCode.LINE_SECTION_BEYOND_TEXT: "sections[{index}].end: {end} lies beyond the document's text, which has {length} characters. Count characters, not bytes, and end at {length} at most.",
    WarningCode.LINE_KEY_MISSPELT: "{where}The key {key} is unknown and was ignored. Did you mean {meant}?",
    WarningCode.LINE_KEY_UNKNOWN: "{where}The key {key} is unknown and was ignored. Keys: {keys}.",
    WarningCode.LINE_PASSAGE_TOO_LONG: "text: {length} characters are too many for one passage, because vector search sees only about its first {most} tokens. Cut it into several chunks.",
    WarningCode.LINE_TRIPLE_JOINS_ITSELF: "The triple {triple} connects an entity with itself and was ignored.",
    WarningCode.LINE_REPLACES: "It replaces line {before}, which has the same id. Give two different ids if they are two things.",
    WarningCode.LINE_WITHOUT_DOCUMENT: "No line describes its document {document}. Add such a line, or remove documentId.",
    WarningCode.LINE_ID_TAKEN: "The id {id} belongs to {owner}. Give {entity} as an alias of it, or with another id.",
    WarningCode.LINE_ALIAS_SHARED: "Several entities have the alias {entity}; give the id of the one you mean.",
    WarningCode.LINE_ENTITY_UNKNOWN: "There is no entity {entity}. Check its spelling, or add a line for it.",
    WarningCode.LINE_ONE_ENTITY: "{source} and {target} are the same entity. Name two different ones.",
    WarningCode.LINE_CHUNK_UNKNOWN: "There is no chunk {chunk}. Check its id.",
    WarningCode.LINE_DOCUMENT_EMPTY: "The document has neither text nor chunks. Give one of them.",
    WarningCode.LINE_CHUNK_ELSEWHERE: "Its chunk {chunk} is not at offset {said} of the text, as `start` says; {start} was used. Count characters, not bytes.",
    WarningCode.LINE_SECTION_UNKNOWN: "Its chunk {chunk} names section {section}, but there are {sections} (counted from 0), so it was put in none.",
    WarningCode.LINE_KEYS_UNUSED: "Without chunks, the text is cut like a text file's and {keys} were ignored. Give the chunks, too, to keep them.",
    WarningCode.LINE_REJECTED: "{reason}",
    WarningCode.LINE_OVERTAKEN: "While this document was being stored, somebody else replaced or deleted it, or cancelled its ingestion. If this version is right, import it again.",
}
