CREATE TABLE `clinic.discharges_k5` AS
SELECT r.`age`, r.`sex`, r.`postcode`, r.`diagnosis` FROM `clinic.discharges_k5_rows` AS r CROSS JOIN UNNEST(GENERATE_ARRAY(1, CAST(r.`n` AS INT64)))
ORDER BY COALESCE(COLLATE(CAST(r.`age` AS STRING), ''), ''), COALESCE(COLLATE(CAST(r.`sex` AS STRING), ''), ''), COALESCE(COLLATE(CAST(r.`postcode` AS STRING), ''), ''), COALESCE(COLLATE(CAST(r.`diagnosis` AS STRING), ''), '');
