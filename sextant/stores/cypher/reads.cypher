// name: by_alias
// Entities by the ids that follow from names, and by alias. Each name has a place, an id and a key.
UNWIND $names AS name
CALL (name) {
  OPTIONAL MATCH (m:__Merged__ {graph_key: $graph, id: name.id})
  WITH coalesce(m.root_id, name.id) AS id
  MATCH (e:__Entity__ {graph_key: $graph, id: id})
  RETURN e
  UNION
  CALL db.index.fulltext.queryNodes('sextant_entity_names', name.key) YIELD node AS e
  WITH e WHERE e.graph_key = $graph
  RETURN e
}
RETURN name.place AS place, e {.id, .name, .entity_type, .description, .aliases, .degree, .mention_count,
  .external_id} AS e
ORDER BY place, e.id

// name: by_words
// Entities by full text; the query consists of letters and digits only.
CALL db.index.fulltext.queryNodes('sextant_entity_texts', $asked, {limit: $wide}) YIELD node AS e, score
WITH e, score WHERE e.graph_key = $graph AND ($types IS NULL OR toLower(e.entity_type) IN $types)
  AND ($since IS NULL OR e.created_at >= $since) AND ($until IS NULL OR e.created_at < $until)
WITH e, score ORDER BY score DESC, e.id LIMIT $k
RETURN score, e {.id, .name, .entity_type, .description, .aliases, .degree, .mention_count,
  .external_id} AS e
ORDER BY score DESC, e.id

// name: by_vector
// The nearest of some entities of a graph, by exact comparison.
MATCH (e:__Entity__) WHERE e.graph_key = $graph AND e.id IS NOT NULL AND e.embedding IS NOT NULL
  AND ($types IS NULL OR toLower(e.entity_type) IN $types)
  AND ($since IS NULL OR e.created_at >= $since) AND ($until IS NULL OR e.created_at < $until)
WITH e, 2 * vector.similarity.cosine(e.embedding, $vector) - 1 AS score
WITH e, score ORDER BY score DESC, e.id LIMIT $k
RETURN score, e {.id, .name, .entity_type, .description, .aliases, .degree, .mention_count,
  .external_id} AS e
ORDER BY score DESC, e.id

// name: by_vector_within
// The nearest entities by the index, filtered by this graph; the index rounds its scores.
CYPHER 25 MATCH (e:__Entity__)
SEARCH e IN (VECTOR INDEX sextant_entity_vectors FOR $vector WHERE e.graph_key = $graph LIMIT $k)
WITH e, 2 * vector.similarity.cosine(e.embedding, $vector) - 1 AS score
RETURN score, e {.id, .name, .entity_type, .description, .aliases, .degree, .mention_count,
  .external_id} AS e
ORDER BY score DESC, e.id

// name: sizes
// The number of entities with vectors.
OPTIONAL MATCH (g:__Graph__ {graph_key: $graph})
RETURN coalesce(g.vectors, 0) AS vectors

// name: entities
// Those of some entities that match a filter, in the requested order; a merged entity is replaced by its root.
UNWIND range(0, size($ids) - 1) AS place
OPTIONAL MATCH (m:__Merged__ {graph_key: $graph, id: $ids[place]})
WITH coalesce(m.root_id, $ids[place]) AS id, min(place) AS place
MATCH (e:__Entity__ {graph_key: $graph, id: id}) WHERE ($types IS NULL OR toLower(e.entity_type) IN $types)
  AND ($since IS NULL OR e.created_at >= $since) AND ($until IS NULL OR e.created_at < $until)
WITH e, place
RETURN e {.id, .name, .entity_type, .description, .aliases, .degree, .mention_count,
  .external_id} AS e
ORDER BY place

// name: neighbourhood
// The heaviest relations of each start, and of each end reached, in one round trip. Without an index by weight a
// node costs its degree, so hubs are not walked through. The result is one row of columns, since hundreds of rows
// took nine tenths of the time.
UNWIND $ids AS asked
OPTIONAL MATCH (m:__Merged__ {graph_key: $graph, id: asked})
WITH DISTINCT coalesce(m.root_id, asked) AS id
MATCH (start:__Entity__ {graph_key: $graph, id: id})
CALL (start) {
  MATCH (start)-[r:RELATED]-(other)
  RETURN r, other ORDER BY r.weight DESC, r.id LIMIT $per_node
}
WITH collect(DISTINCT start) AS starts, collect(DISTINCT r) AS near, collect(DISTINCT other) AS reached
CALL (starts, near, reached) {
  UNWIND near AS r
  RETURN r, 1 AS depth
  UNION ALL
  UNWIND CASE WHEN $depth > 1 THEN reached ELSE [] END AS middle
  WITH middle, starts WHERE middle.degree <= $hub_degree AND NOT middle IN starts
  CALL (middle) {
    MATCH (middle)-[r:RELATED]-()
    RETURN r ORDER BY r.weight DESC, r.id LIMIT $per_node
  }
  RETURN r, 2 AS depth
}
WITH r, min(depth) AS depth
RETURN collect(r.id) AS relations, collect(startNode(r).id) AS sources,
  collect(endNode(r).id) AS targets, collect(r.kind) AS kinds, collect(r.weight) AS weights,
  collect(depth) AS depths

// name: graph
// The identity and number of the copy of a graph.
MATCH (g:__Graph__ {graph_key: $graph})
RETURN g.scope_id AS scope_id, g.made_at AS made_at, g.database AS database, coalesce(g.copied, 0) AS copied

// name: said_of
// The number of the copy, and a mark set by other editors.
MATCH (g:__Graph__ {graph_key: $graph})
RETURN coalesce(g.copied, 0) AS copied, toString(g.edited) AS edited

// name: fingerprint
// Counts, lengths and sums that change with nearly every change of a graph. Sums of integers, since those of
// fractions depend on the order.
CALL () {
  MATCH (e:__Entity__) WHERE e.graph_key = $graph AND e.id IS NOT NULL
  RETURN count(e) AS entities, sum(size(e.name) + size(e.entity_type) + size(e.description)) AS told
}
CALL () {
  MATCH (e:__Entity__)-[r:RELATED]->(:__Entity__)
  WHERE e.graph_key = $graph AND e.id IS NOT NULL AND r.graph_key = $graph
  RETURN count(r) AS relations, sum(size(r.kind)) AS kinds, sum(toInteger(1000 * r.weight)) AS weights
}
CALL () {
  MATCH (m:__Merged__) WHERE m.graph_key = $graph AND m.id IS NOT NULL
  RETURN count(m) AS merged
}
CALL () {
  MATCH (c:__Community__) WHERE c.graph_key = $graph AND c.id IS NOT NULL
  RETURN count(c) AS communities, count(c.embedding) AS embedded, sum(c.level) AS levels,
    sum(size(c.title) + size(c.summary) + size(c.findings)) AS reported,
    sum(toInteger(1000 * c.rating)) AS ratings, sum(COUNT { (c)<-[:IN_COMMUNITY]-() }) AS members
}
RETURN entities, told, relations, kinds, weights, merged, communities, embedded, levels, reported, ratings,
  members

// name: whole
// All visible entities, by id, with their outgoing relations.
MATCH (e:__Entity__) WHERE e.graph_key = $graph AND e.id IS NOT NULL
RETURN e.id AS id, coalesce(e.name, '') AS name, coalesce(e.entity_type, '') AS type, COLLECT {
  MATCH (e)-[r:RELATED]->(other:__Entity__)
  WHERE r.graph_key = $graph AND other.graph_key = $graph AND r.weight > 0
  RETURN [other.id, r.kind, r.weight]
} AS relations
ORDER BY id

// name: merged
// The roots of merged entities.
MATCH (m:__Merged__) WHERE m.graph_key = $graph AND m.id IS NOT NULL
RETURN m.id AS id, m.root_id AS root ORDER BY id

// name: reports
// All communities with a report, with members and the report's vector.
MATCH (c:__Community__) WHERE c.graph_key = $graph AND c.id IS NOT NULL AND c.title <> ''
RETURN c {.id, .level, .parent_id, .title, .summary, .findings, .rating} AS c, c.embedding AS embedding,
  COLLECT { MATCH (c)<-[:IN_COMMUNITY]-(e) WHERE e.graph_key = $graph RETURN e.id ORDER BY e.id } AS entity_ids
ORDER BY c.level, c.rating DESC, c.id

// name: counts
// The size of a graph.
RETURN
  COUNT { MATCH (e:__Entity__) WHERE e.graph_key = $graph AND e.id IS NOT NULL } AS entities,
  COUNT { MATCH ()-[r:RELATED]->() WHERE r.graph_key = $graph AND r.id IS NOT NULL } AS relations,
  COUNT { MATCH (e:__Entity__)-[:FROM_CHUNK]->() WHERE e.graph_key = $graph AND e.id IS NOT NULL }
    AS mentions,
  COUNT { MATCH (c:__Community__) WHERE c.graph_key = $graph AND c.id IS NOT NULL } AS communities
