-- name: stamp
-- What tells whether passages, graph and reports are as they were; see scope_stamp (migration 0037).
scope_stamp(%s, %s)
