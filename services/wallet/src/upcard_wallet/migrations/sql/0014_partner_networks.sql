-- Each try of a call has an id of its own, which the partner gets: both sides can find it in their logs.
ALTER TABLE wallet.partner_answers ADD COLUMN network uuid;

COMMENT ON COLUMN wallet.partner_answers.network IS 'The id of this try as the partner got it: its first request''s; further ones follow from it.';
