"""Store documents and their versions: write, publish, describe and delete them."""
