"""Connect to PostgreSQL: pools, migrations, named queries, backups."""
