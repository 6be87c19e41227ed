-- name: stamp
-- Texts that change whenever passages, graph or reports do; see scope_stamp.
scope_stamp(%s, %s)
