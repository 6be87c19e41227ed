-- What was written before questions and passages when the stored vectors were made, as models like E5 want it; null
-- where that is not known. The model's folder may be moved or renamed, and what is written must stay the same.
alter table embedding_space add column query_prefix text, add column passage_prefix text;
