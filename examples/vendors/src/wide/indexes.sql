-- The indexes that the library needs. The tables stay as they are.
CREATE INDEX ON supporters (organisation_id, id);
CREATE INDEX ON supporters (lower(email));
CREATE INDEX ON supporters (lower(email2));
CREATE INDEX ON petition_signatures (supporter_id, id);
CREATE INDEX ON donations (organisation_id, id);
CREATE INDEX ON donations (page_slug, id);
CREATE INDEX ON donations (supporter_id, id);
