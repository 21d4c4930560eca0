"""The evaluation of packed documents: what ours keeps, beside what others keep, on sets with gold evidence."""
