// name: entity_key
// Ids are unique within a graph; its index finds entities by id, and all entities of a graph.
CREATE CONSTRAINT sextant_entity_key IF NOT EXISTS
FOR (e:__Entity__) REQUIRE (e.graph_key, e.id) IS UNIQUE

// name: chunk_key
// Ids of chunks are unique within a graph.
CREATE CONSTRAINT sextant_chunk_key IF NOT EXISTS
FOR (c:Chunk) REQUIRE (c.graph_key, c.id) IS UNIQUE

// name: community_key
// Ids of communities are unique within a graph.
CREATE CONSTRAINT sextant_community_key IF NOT EXISTS
FOR (c:__Community__) REQUIRE (c.graph_key, c.id) IS UNIQUE

// name: merged_key
// Ids of merged entities are unique within a graph.
CREATE CONSTRAINT sextant_merged_key IF NOT EXISTS
FOR (m:__Merged__) REQUIRE (m.graph_key, m.id) IS UNIQUE

// name: graph_key
// Each graph has one node.
CREATE CONSTRAINT sextant_graph_key IF NOT EXISTS
FOR (g:__Graph__) REQUIRE g.graph_key IS UNIQUE

// name: left_over
// Whether an index belongs to no constraint: it was left by a process that was killed while creating the
// constraint, and blocks it.
SHOW INDEXES YIELD name, owningConstraint
WHERE name = $name AND owningConstraint IS NULL RETURN name

// name: drop_entity_key
// Drop the index that was left over.
DROP INDEX sextant_entity_key IF EXISTS

// name: drop_chunk_key
// Drop the index that was left over.
DROP INDEX sextant_chunk_key IF EXISTS

// name: drop_community_key
// Drop the index that was left over.
DROP INDEX sextant_community_key IF EXISTS

// name: drop_merged_key
// Drop the index that was left over.
DROP INDEX sextant_merged_key IF EXISTS

// name: drop_graph_key
// Drop the index that was left over.
DROP INDEX sextant_graph_key IF EXISTS

// name: drop_entity_words
// Drop the index of words that earlier versions had.
DROP INDEX sextant_entity_words IF EXISTS

// name: relation_key
// Find relations by id. No constraint, which took a quarter more CPU of an import; the only writer of a graph
// deletes a relation in the transaction that writes it.
CREATE INDEX sextant_relation_key IF NOT EXISTS
FOR ()-[r:RELATED]-() ON (r.graph_key, r.id)

// name: merged_roots
// Find the entities merged into an entity.
CREATE INDEX sextant_merged_roots IF NOT EXISTS
FOR (m:__Merged__) ON (m.graph_key, m.root_id)

// name: entity_names
// Hashed whole names; a query is a hexadecimal number and never a syntax error.
CREATE FULLTEXT INDEX sextant_entity_names IF NOT EXISTS
FOR (e:__Entity__) ON EACH [e.name_keys]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// name: entity_texts
// Names and descriptions, English stemmed, each ideograph a word; with the graph as a word.
CREATE FULLTEXT INDEX sextant_entity_texts IF NOT EXISTS
FOR (e:__Entity__) ON EACH [e.graph_word, e.name, e.description]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}

// name: await_indexes
// Wait until the indexes are online, for so many seconds.
CALL db.awaitIndexes($seconds)

// name: version
// The version of the server.
CALL dbms.components() YIELD name, versions
WITH name, versions WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version

// name: entity_vectors
// From version 2026.01 on an index can be filtered by graph.
CYPHER 25 CREATE VECTOR INDEX sextant_entity_vectors IF NOT EXISTS
FOR (e:__Entity__) ON (e.embedding) WITH [e.graph_key]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
