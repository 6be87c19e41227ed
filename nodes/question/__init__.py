"""What a question says, by rule: its parts, its names, the conversation that it leans on."""
