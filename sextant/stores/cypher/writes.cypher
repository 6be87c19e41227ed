// name: claim
// Claim the name of a graph for this database; no row if another database has it. Writing `claiming` first makes
// others wait, since the node's key is unique.
MERGE (g:__Graph__ {graph_key: $graph}) SET g.claiming = $database
WITH g WHERE $seize OR g.database IS NULL OR g.database = $database
SET g.database = $database REMOVE g.scope_id, g.made_at, g.claiming
RETURN g.database AS database

// name: graph
// Describe the copy of a graph; `vectors`: the number of its vectors.
MERGE (g:__Graph__ {graph_key: $graph})
SET g.user_id = $user_id, g.graph_id = $graph_id, g.scope_id = $scope_id, g.made_at = $made_at, g.vectors = $vectors,
  g.database = $database, g.copied = $copied

// name: entities
// Write entities; return the new ones.
UNWIND $rows AS row
OPTIONAL MATCH (known:__Entity__ {graph_key: $graph, id: row.id})
WITH row, known IS NULL AS fresh
MERGE (e:__Entity__ {graph_key: $graph, id: row.id})
SET e += row.properties
WITH row, fresh WHERE fresh
RETURN row.id AS id

// name: vectors
// Store vectors, in half the space of a list.
UNWIND $rows AS row
MATCH (e:__Entity__ {graph_key: $graph, id: row.id})
CALL db.create.setNodeVectorProperty(e, 'embedding', row.embedding)

// name: no_vectors
// Remove vectors.
UNWIND $ids AS id
MATCH (e:__Entity__ {graph_key: $graph, id: id})
REMOVE e.embedding

// name: unmention
// Remove mentions by chunks that do not mention an entity any more.
UNWIND $rows AS row
MATCH (:__Entity__ {graph_key: $graph, id: row.id})-[r:FROM_CHUNK]->(c:Chunk)
WHERE NOT c.id IN row.chunks
DELETE r
WITH DISTINCT c WHERE NOT EXISTS { (c)<-[:FROM_CHUNK]-() }
DELETE c

// name: mention
// Add the chunks that mention an entity.
UNWIND $rows AS row
MATCH (e:__Entity__ {graph_key: $graph, id: row.id})
UNWIND row.chunks AS chunk
MERGE (c:Chunk {graph_key: $graph, id: chunk})
MERGE (e)-[:FROM_CHUNK]->(c)

// name: unmerge
// Remove ids that are not merged into an entity any more.
UNWIND $rows AS row
MATCH (m:__Merged__ {graph_key: $graph, root_id: row.id}) WHERE NOT m.id IN row.merged
DELETE m

// name: merge
// Add ids that are merged into an entity.
UNWIND $rows AS row
UNWIND row.merged AS merged
MERGE (m:__Merged__ {graph_key: $graph, id: merged})
SET m.root_id = row.id

// name: remove_entities
// Delete entities that are not visible any more, with their relations.
UNWIND $ids AS id
MATCH (e:__Entity__ {graph_key: $graph, id: id})
OPTIONAL MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
WITH e, collect(c) AS chunks
DETACH DELETE e
WITH chunks UNWIND chunks AS c
WITH DISTINCT c WHERE NOT EXISTS { (c)<-[:FROM_CHUNK]-() }
DELETE c

// name: remove_merged
// Delete the ids that were merged into them.
UNWIND $ids AS id
MATCH (m:__Merged__ {graph_key: $graph, root_id: id})
DELETE m

// name: remove_relations
// Delete relations that are gone, or written again next.
UNWIND $ids AS id
MATCH ()-[r:RELATED {graph_key: $graph, id: id}]->()
DELETE r

// name: relations
// Write relations; one with a missing end is written together with that end.
UNWIND range(0, size($ids) - 1) AS row
MATCH (source:__Entity__ {graph_key: $graph, id: $sources[row]})
MATCH (target:__Entity__ {graph_key: $graph, id: $targets[row]})
CREATE (source)-[:RELATED {graph_key: $graph, id: $ids[row], kind: $kinds[row],
  weight: $weights[row], description: $descriptions[row], chunk_ids: $chunks[row]}]->(target)

// name: remove_communities
// Delete communities that are gone, or written again next.
UNWIND $ids AS id
MATCH (c:__Community__ {graph_key: $graph, id: id})
DETACH DELETE c

// name: communities
// Write communities with their members.
UNWIND $rows AS row
CREATE (c:__Community__) SET c = row.properties
WITH c, row
CALL (c, row) {
  UNWIND row.entity_ids AS id
  MATCH (e:__Entity__ {graph_key: $graph, id: id})
  CREATE (e)-[:IN_COMMUNITY]->(c)
}

// name: community_vectors
// Store the vectors of reports.
UNWIND $rows AS row
MATCH (c:__Community__ {graph_key: $graph, id: row.id})
CALL db.create.setNodeVectorProperty(c, 'embedding', row.embedding)

// name: parents
// Connect communities with their parents, for these and their children.
MATCH (c:__Community__) WHERE c.graph_key = $graph AND c.id IS NOT NULL
  AND (c.id IN $ids OR c.parent_id IN $ids)
MATCH (parent:__Community__ {graph_key: $graph, id: c.parent_id})
MERGE (c)-[:PARENT_COMMUNITY]->(parent)

// name: leave
// Release the name of a graph.
MATCH (g:__Graph__ {graph_key: $graph}) DELETE g

// name: wipe
// Delete some nodes of a graph; repeat until none is left.
CALL () {
  MATCH (n:__Entity__) WHERE n.graph_key = $graph AND n.id IS NOT NULL RETURN n LIMIT $limit
  UNION
  MATCH (n:Chunk) WHERE n.graph_key = $graph AND n.id IS NOT NULL RETURN n LIMIT $limit
  UNION
  MATCH (n:__Community__) WHERE n.graph_key = $graph AND n.id IS NOT NULL RETURN n LIMIT $limit
  UNION
  MATCH (n:__Merged__) WHERE n.graph_key = $graph AND n.id IS NOT NULL RETURN n LIMIT $limit
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
