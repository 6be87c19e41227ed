"""Facts of a graph alone as passages, which questions find and answers cite."""
