-- The moment of each tenant's last write: the next one is later, whatever the clock of the machine does.
ALTER TABLE tenant ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;

-- The currency of a page is read from its fields.
ALTER TABLE fundraising_pages DROP COLUMN currency;
