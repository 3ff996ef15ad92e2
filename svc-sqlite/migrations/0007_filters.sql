-- Filters and orders by date (FLT-05, FLT-09): every collection by when its records were created and changed. The row of a
-- record is the last part of each index by itself.
CREATE INDEX people_by_created ON people (tenant, created);
CREATE INDEX people_by_modified ON people (tenant, modified);
CREATE INDEX petitions_by_created ON petitions (tenant, created);
CREATE INDEX petitions_by_modified ON petitions (tenant, modified);
CREATE INDEX events_by_created ON events (tenant, created);
CREATE INDEX events_by_modified ON events (tenant, modified);
CREATE INDEX forms_by_created ON forms (tenant, created);
CREATE INDEX forms_by_modified ON forms (tenant, modified);
CREATE INDEX fundraising_pages_by_created ON fundraising_pages (tenant, created);
CREATE INDEX fundraising_pages_by_modified ON fundraising_pages (tenant, modified);
CREATE INDEX donations_by_created ON donations (tenant, created);
CREATE INDEX donations_by_modified ON donations (tenant, modified);
CREATE INDEX tags_by_created ON tags (tenant, created);
CREATE INDEX tags_by_modified ON tags (tenant, modified);
CREATE INDEX lists_by_created ON lists (tenant, created);
CREATE INDEX lists_by_modified ON lists (tenant, modified);
CREATE INDEX queries_by_created ON queries (tenant, created);
CREATE INDEX queries_by_modified ON queries (tenant, modified);
CREATE INDEX questions_by_created ON questions (tenant, created);
CREATE INDEX questions_by_modified ON questions (tenant, modified);
CREATE INDEX share_pages_by_created ON share_pages (tenant, created);
CREATE INDEX share_pages_by_modified ON share_pages (tenant, modified);
CREATE INDEX advocacy_campaigns_by_created ON advocacy_campaigns (tenant, created);
CREATE INDEX advocacy_campaigns_by_modified ON advocacy_campaigns (tenant, modified);
CREATE INDEX messages_by_created ON messages (tenant, created);
CREATE INDEX messages_by_modified ON messages (tenant, modified);
