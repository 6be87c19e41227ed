-- A name with a type, or repeated in its passage, is an entity without a second passage.
alter type mention_kind add value 'name' after 'term';
