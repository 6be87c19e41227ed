// name: entity_key
// Ids are unique within a graph; the index behind it finds entities by id, and all of a graph.
CREATE CONSTRAINT sextant_entity_key IF NOT EXISTS
FOR (e:__Entity__) REQUIRE (e.graph_key, e.id) IS UNIQUE

// name: chunk_key
// The same of chunks.
CREATE CONSTRAINT sextant_chunk_key IF NOT EXISTS
FOR (c:Chunk) REQUIRE (c.graph_key, c.id) IS UNIQUE

// name: community_key
// The same of communities.
CREATE CONSTRAINT sextant_community_key IF NOT EXISTS
FOR (c:__Community__) REQUIRE (c.graph_key, c.id) IS UNIQUE

// name: merged_key
// The same of ids that have become another entity's.
CREATE CONSTRAINT sextant_merged_key IF NOT EXISTS
FOR (m:__Merged__) REQUIRE (m.graph_key, m.id) IS UNIQUE

// name: graph_key
// One node says of a graph that it is here.
CREATE CONSTRAINT sextant_graph_key IF NOT EXISTS
FOR (g:__Graph__) REQUIRE g.graph_key IS UNIQUE

// name: left_over
// Of an index by name, whether it belongs to no constraint: what is left of one that was being made
// when its maker was killed, and keeps it from being made again.
SHOW INDEXES YIELD name, owningConstraint
WHERE name = $name AND owningConstraint IS NULL RETURN name

// name: drop_entity_key
// Removes what is left over.
DROP INDEX sextant_entity_key IF EXISTS

// name: drop_chunk_key
// Removes what is left over.
DROP INDEX sextant_chunk_key IF EXISTS

// name: drop_community_key
// Removes what is left over.
DROP INDEX sextant_community_key IF EXISTS

// name: drop_merged_key
// Removes what is left over.
DROP INDEX sextant_merged_key IF EXISTS

// name: drop_graph_key
// Removes what is left over.
DROP INDEX sextant_graph_key IF EXISTS

// name: relation_key
// Relations are found by id, too. No constraint: it took a quarter more CPU of an import, and a
// graph's one writer deletes a relation in the transaction that writes it.
CREATE INDEX sextant_relation_key IF NOT EXISTS
FOR ()-[r:RELATED]-() ON (r.graph_key, r.id)

// name: merged_roots
// What has been merged into an entity.
CREATE INDEX sextant_merged_roots IF NOT EXISTS
FOR (m:__Merged__) ON (m.graph_key, m.root_id)

// name: entity_words
// Hashed words of names; they are cut, salted and hashed before they get here, so a query is always
// a list of hexadecimal numbers and can never be a syntax error.
CREATE FULLTEXT INDEX sextant_entity_words IF NOT EXISTS
FOR (e:__Entity__) ON EACH [e.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// name: entity_names
// Hashed whole names.
CREATE FULLTEXT INDEX sextant_entity_names IF NOT EXISTS
FOR (e:__Entity__) ON EACH [e.name_keys]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// name: entity_texts
// Names and descriptions, English stemmed, every ideograph a word; with the graph as a word of each.
CREATE FULLTEXT INDEX sextant_entity_texts IF NOT EXISTS
FOR (e:__Entity__) ON EACH [e.graph_word, e.name, e.description]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}

// name: await_indexes
// Seconds until they are there; at once where they have been.
CALL db.awaitIndexes($seconds)

// name: version
// Of the server.
CALL dbms.components() YIELD name, versions
WITH name, versions WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version

// name: entity_vectors
// From 2026.01 on an index can be searched within a graph.
CYPHER 25 CREATE VECTOR INDEX sextant_entity_vectors IF NOT EXISTS
FOR (e:__Entity__) ON (e.embedding) WITH [e.graph_key]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
