"""What whole knowledge bases in and out are made of: lines, what a spool keeps of them, evidence."""
