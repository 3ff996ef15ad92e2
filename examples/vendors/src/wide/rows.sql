-- 600 supporters of one organisation as such tables have them: mixed case, missing and repeated addresses, phone numbers
-- as they were typed, states by name, and deleted rows.
INSERT INTO organisations (slug, name) VALUES ('acme', 'Acme'), ('other', 'Other');
INSERT INTO supporters (organisation_id, first_name, last_name, email, email2, opt_in, phone_home, phone_mobile, street, city,
                        state, zip, languages, extra, deleted_at)
SELECT 1,
    CASE n % 9 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'First ' || n END,
    CASE n % 7 WHEN 0 THEN NULL ELSE 'LAST ' || n END,
    CASE n % 10 WHEN 0 THEN NULL WHEN 1 THEN 'Person.' || n || '@Example.ORG' WHEN 2 THEN '' WHEN 3 THEN 'shared@example.org'
        ELSE 'person.' || n || '@example.org' END,
    CASE n % 6 WHEN 0 THEN 'other.' || n || '@example.org' WHEN 1 THEN '' END,
    n % 3 = 0,
    CASE n % 8 WHEN 0 THEN '(202) 555-0' || 100 + n % 100 WHEN 1 THEN 'n/a' WHEN 2 THEN '202.555.0' || 100 + n % 100 END,
    CASE n % 4 WHEN 0 THEN '+1 415 555 0' || 100 + n % 100 WHEN 1 THEN '1-415-555-0' || 100 + n % 100 END,
    CASE n % 3 WHEN 0 THEN n || ' Main Street' WHEN 1 THEN n || E' Oak Avenue\nApt ' || n % 20 END,
    CASE n % 3 WHEN 0 THEN 'Albany' WHEN 1 THEN 'OAKLAND' END,
    CASE n % 5 WHEN 0 THEN 'New York' WHEN 1 THEN 'CALIFORNIA' WHEN 2 THEN 'TX' WHEN 3 THEN '' END,
    CASE n % 3 WHEN 0 THEN '12207' END,
    CASE n % 11 WHEN 0 THEN 'en, es' WHEN 1 THEN 'en' END,
    CASE n % 12 WHEN 0 THEN '{"shirt_size": "M"}'::jsonb END,
    CASE n % 20 WHEN 0 THEN now() END
FROM generate_series(1, 600) n;
INSERT INTO petitions (organisation_id, slug, title) VALUES (1, 'clean-air', 'Clean air'), (1, 'safe-streets', 'Safe streets');
INSERT INTO petition_signatures (petition_id, supporter_id, comment)
SELECT 1, id, CASE id % 5 WHEN 0 THEN 'I agree' END FROM supporters WHERE id % 2 = 0;
INSERT INTO donation_pages (organisation_id, slug, title, active) VALUES (1, 'spring', 'Spring appeal', true), (1, 'old', 'Old appeal', false);
INSERT INTO donations (organisation_id, supporter_id, page_slug, amount_cents, refunded)
SELECT 1, id, CASE id % 30 WHEN 0 THEN 'old' ELSE 'spring' END, 500 + id, id % 40 = 0 FROM supporters WHERE id % 10 = 0;
