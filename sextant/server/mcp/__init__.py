"""The knowledge bases as MCP tools, for agents and chat hosts."""
