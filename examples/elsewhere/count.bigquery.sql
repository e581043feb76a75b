SELECT
  NULLIF(COLLATE(CAST(`age` AS STRING), ''), '') AS `age`,
  NULLIF(COLLATE(CAST(`sex` AS STRING), ''), '') AS `sex`,
  NULLIF(COLLATE(CAST(`postcode` AS STRING), ''), '') AS `postcode`,
  NULLIF(COLLATE(CAST(`diagnosis` AS STRING), ''), '') AS `diagnosis`,
  COUNT(*) AS `n`
FROM `clinic.discharges`
GROUP BY 1, 2, 3, 4;
