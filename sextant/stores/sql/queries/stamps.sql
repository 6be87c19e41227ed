-- name: stamp
-- What tells whether passages, graph and reports are as they were; see scope_stamp.
scope_stamp(%s, %s)
