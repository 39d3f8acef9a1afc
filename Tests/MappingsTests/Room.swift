// Placeholder until this room is built.
