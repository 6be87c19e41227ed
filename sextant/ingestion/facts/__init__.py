"""Write facts that users assert as passages, which questions find and answers cite."""
