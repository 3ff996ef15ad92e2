-- The indexes that the library needs. The tables stay as they are, and their foreign keys have indexes.
CREATE INDEX supporters_email ON supporters (email);
CREATE INDEX supporters_email2 ON supporters (email2);
CREATE INDEX donations_page ON donations (page_slug, id);
