"""Images and tables that come with a question (seed 002, 多模态查询)."""
