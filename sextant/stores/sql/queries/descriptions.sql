-- name: describe_chunk
-- What a chunk is about, of one that nobody has described.
update chunks set summary = %(summary)s, tags = %(tags)s, topics = %(topics)s,
  keywords = %(keywords)s, entities = %(entities)s, topic_labels = %(topic_labels)s,
  neighbours = %(neighbours)s, described_by = 'extract'
where scope_id = %(scope_id)s and id = %(id)s and described_by = '';
