-- Uploads are known by their bytes; answers to those with an Idempotency-Key are no longer kept.
drop function forget_idempotent_answers(interval);
drop table idempotent_answers;
