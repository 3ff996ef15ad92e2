-- Amounts that older versions took and that have more digits than money has now: what they were, and what they were rounded to.
CREATE TABLE rounded (
    tenant   INTEGER NOT NULL REFERENCES tenant (id),
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL,
    property TEXT NOT NULL,
    was      TEXT NOT NULL,
    now      TEXT NOT NULL
) STRICT;

-- Sums are counted anew.
DELETE FROM part;
UPDATE total SET accepted = 0, tickets = 0, amount = '0' WHERE accepted <> 0 OR tickets <> 0 OR amount <> '0';
