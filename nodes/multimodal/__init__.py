"""Images and tables that come with a question, read and looked at (seed 002, 多模态查询)."""
