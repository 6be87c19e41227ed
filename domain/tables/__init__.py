"""Tables as data: cells with types, exact arithmetic over them, and what a question asks of them."""
