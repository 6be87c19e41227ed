"""What words do in Chinese and English: where sentences end, which names, numbers and denials stand in them."""
