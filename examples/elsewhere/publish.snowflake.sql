CREATE TABLE clinic.discharges_k5 AS
SELECT r.age, r.sex, r.postcode, r.diagnosis FROM clinic.discharges_k5_rows AS r, LATERAL FLATTEN(INPUT => ARRAY_GENERATE_RANGE(0, CAST(r.n AS INTEGER)))
ORDER BY COALESCE(COLLATE(CAST(r.age AS VARCHAR), ''), ''), COALESCE(COLLATE(CAST(r.sex AS VARCHAR), ''), ''), COALESCE(COLLATE(CAST(r.postcode AS VARCHAR), ''), ''), COALESCE(COLLATE(CAST(r.diagnosis AS VARCHAR), ''), '');
