"""The commands of the command line; `program` puts them together. They need the extra `cli`."""
