-- The same rows in MySQL or MariaDB.
INSERT INTO organisations (slug, name) VALUES ('acme', 'Acme'), ('other', 'Other');
INSERT INTO supporters (organisation_id, first_name, last_name, email, email2, opt_in, phone_home, phone_mobile, street, city,
                        state, zip, languages, extra, deleted_at)
WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
SELECT 1,
    CASE n % 9 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE CONCAT('First ', n) END,
    CASE n % 7 WHEN 0 THEN NULL ELSE CONCAT('LAST ', n) END,
    CASE n % 10 WHEN 0 THEN NULL WHEN 1 THEN CONCAT('Person.', n, '@Example.ORG') WHEN 2 THEN '' WHEN 3 THEN 'shared@example.org'
        ELSE CONCAT('person.', n, '@example.org') END,
    CASE n % 6 WHEN 0 THEN CONCAT('other.', n, '@example.org') WHEN 1 THEN '' END,
    n % 3 = 0,
    CASE n % 8 WHEN 0 THEN CONCAT('(202) 555-0', 100 + n % 100) WHEN 1 THEN 'n/a' WHEN 2 THEN CONCAT('202.555.0', 100 + n % 100) END,
    CASE n % 4 WHEN 0 THEN CONCAT('+1 415 555 0', 100 + n % 100) WHEN 1 THEN CONCAT('1-415-555-0', 100 + n % 100) END,
    CASE n % 3 WHEN 0 THEN CONCAT(n, ' Main Street') WHEN 1 THEN CONCAT(n, ' Oak Avenue\nApt ', n % 20) END,
    CASE n % 3 WHEN 0 THEN 'Albany' WHEN 1 THEN 'OAKLAND' END,
    CASE n % 5 WHEN 0 THEN 'New York' WHEN 1 THEN 'CALIFORNIA' WHEN 2 THEN 'TX' WHEN 3 THEN '' END,
    CASE n % 3 WHEN 0 THEN '12207' END,
    CASE n % 11 WHEN 0 THEN 'en, es' WHEN 1 THEN 'en' END,
    CASE n % 12 WHEN 0 THEN '{"shirt_size": "M"}' END,
    CASE n % 20 WHEN 0 THEN now(6) END
FROM numbers;
INSERT INTO petitions (organisation_id, slug, title) VALUES (1, 'clean-air', 'Clean air'), (1, 'safe-streets', 'Safe streets');
INSERT INTO petition_signatures (petition_id, supporter_id, comment)
SELECT 1, id, CASE id % 5 WHEN 0 THEN 'I agree' END FROM supporters WHERE id % 2 = 0;
INSERT INTO donation_pages (organisation_id, slug, title, active) VALUES (1, 'spring', 'Spring appeal', true), (1, 'old', 'Old appeal', false);
INSERT INTO donations (organisation_id, supporter_id, page_slug, amount_cents, refunded)
SELECT 1, id, CASE id % 30 WHEN 0 THEN 'old' ELSE 'spring' END, 500 + id, id % 40 = 0 FROM supporters WHERE id % 10 = 0;
