"""Commands that ask: answers and passages, how they are shown, and how good they are."""
