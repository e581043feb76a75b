SELECT
  NULLIF(COLLATE(CAST(age AS VARCHAR), ''), '') AS "age",
  NULLIF(COLLATE(CAST(sex AS VARCHAR), ''), '') AS "sex",
  NULLIF(COLLATE(CAST(postcode AS VARCHAR), ''), '') AS "postcode",
  NULLIF(COLLATE(CAST(diagnosis AS VARCHAR), ''), '') AS "diagnosis",
  COUNT(*) AS "n"
FROM clinic.discharges
GROUP BY 1, 2, 3, 4;
