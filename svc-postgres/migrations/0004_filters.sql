-- Filters and orders by date (FLT-05, FLT-09). As no two indexes of a table may have the same two columns first, each says the
-- kind in another way.
CREATE INDEX record_by_created ON {s}.record (tenant, (-kind), created, seq);
CREATE INDEX record_by_modified ON {s}.record (tenant, (kind::bigint), modified, seq);
