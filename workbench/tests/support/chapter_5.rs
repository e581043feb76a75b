//! The tables of the thesis' chapter 5: parts of a lattice that are annotated because an estimator ranks them high.
//!
//! Adult, 30,162 records, sets of 3 to 6 quasi-identifiers. Levels are written as digits in the order of chapters 4
//! and 5: age, (education), (marital-status), (occupation), race, workclass.
//!
//! The numbers come out when each height keeps its best `max(2, p·n rounded to the nearest whole number)` of `n`
//! schemes. γ and μ are those of the set at hand, unrounded, and no two schemes tie at the border for any estimator
//! and p of the chapter. Where print and data disagree, the data stand here and the print in a comment.

/// Table 5.1: attribute, level, number of groups when the five others stay at level 0,
/// average group size (γ) times 100, relative importance (μ) times 100. Six quasi-identifiers.
pub const TABLE_5_1: &[(&str, u8, u64, u64, u64)] = &[
    ("age", 0, 15537, 194, 59),
    ("age", 1, 9117, 331, 170),
    ("age", 2, 7015, 430, 130),
    ("age", 3, 5380, 561, 130),
    ("age", 4, 3455, 873, 156),
    ("education", 0, 15537, 194, 95),
    ("education", 1, 14796, 204, 105),
    ("education", 2, 13526, 223, 109),
    ("education", 3, 10407, 290, 130),
    ("education", 4, 8247, 366, 126),
    ("marital-status", 0, 15537, 194, 96),
    ("marital-status", 1, 14855, 203, 105),
    ("marital-status", 2, 13018, 232, 114),
    ("marital-status", 3, 11190, 270, 116),
    ("occupation", 0, 15537, 194, 71),
    ("occupation", 1, 10975, 275, 142),
    ("occupation", 2, 7932, 380, 138),
    ("race", 0, 15537, 194, 98),
    ("race", 1, 15210, 198, 102),
    ("race", 2, 13478, 224, 113),
    ("workclass", 0, 15537, 194, 94),
    ("workclass", 1, 14668, 206, 106),
    ("workclass", 2, 11798, 256, 124),
    ("workclass", 3, 11790, 256, 100),
];

/// Height; the fewest records that a scheme of that height suppresses; the fewest that a scheme suppresses that is
/// among the best 5 % by Γ, by M, by ΓM, by Λ.
pub type Fewest = (u32, u64, u64, u64, u64, u64);

/// Figures 5.2 to 5.13: number of quasi-identifiers, k, and a row for each height.
pub const FIGURES_5_2_TO_5_13: &[(usize, u64, &[Fewest])] = &[
    // Figure 5.2
    (
        3,
        3,
        &[
            (0, 554, 554, 554, 554, 554),
            (1, 125, 125, 125, 125, 125),
            (2, 28, 58, 28, 28, 28),
            (3, 12, 21, 17, 18, 17),
            (4, 4, 4, 9, 4, 9),
            (5, 1, 2, 1, 2, 2),
            (6, 0, 0, 0, 0, 2),
            (7, 0, 0, 0, 0, 0),
            (8, 0, 0, 0, 0, 0),
            (9, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.3
    (
        4,
        3,
        &[
            (0, 3297, 3297, 3297, 3297, 3297),
            (1, 1042, 1042, 1042, 1042, 1042),
            (2, 318, 554, 318, 318, 318),
            (3, 110, 125, 110, 125, 125),
            (4, 28, 89, 47, 58, 50),
            (5, 12, 18, 19, 18, 18),
            (6, 4, 4, 11, 4, 4),
            (7, 0, 2, 2, 2, 4),
            (8, 0, 0, 0, 0, 2),
            (9, 0, 0, 0, 0, 0),
            (10, 0, 0, 0, 0, 0),
            (11, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.4
    (
        5,
        3,
        &[
            (0, 10458, 10458, 10458, 10458, 10458),
            (1, 4514, 4514, 4514, 4514, 4514),
            (2, 2169, 2169, 2169, 2169, 2169),
            (3, 1123, 1123, 1619, 1123, 1123),
            (4, 716, 716, 753, 731, 731),
            (5, 322, 342, 377, 342, 322),
            (6, 108, 126, 164, 126, 126),
            (7, 41, 41, 47, 41, 41),
            (8, 8, 8, 31, 8, 8),
            (9, 2, 2, 16, 2, 4),
            (10, 0, 2, 9, 2, 2),
            (11, 0, 2, 0, 2, 2),
            (12, 0, 0, 2, 0, 2),
            (13, 0, 0, 0, 0, 0),
            (14, 0, 0, 0, 0, 0),
            (15, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.5
    (
        6,
        3,
        &[
            (0, 15318, 15318, 15318, 15318, 15318),
            (1, 8304, 8304, 8304, 8304, 8304),
            (2, 4901, 4901, 4901, 4901, 4901),
            (3, 2867, 2867, 4023, 2867, 2867),
            (4, 1941, 1941, 2446, 2196, 2196),
            (5, 1177, 1248, 1177, 1177, 1177),
            (6, 629, 629, 752, 629, 629),
            (7, 354, 354, 524, 354, 354),
            (8, 155, 155, 243, 155, 155),
            (9, 33, 33, 78, 33, 33),
            (10, 9, 9, 33, 9, 9),
            (11, 2, 5, 17, 5, 5),
            (12, 0, 1, 10, 2, 4),
            (13, 0, 1, 2, 2, 2),
            (14, 0, 0, 0, 0, 2),
            (15, 0, 0, 0, 2, 2),
            (16, 0, 0, 0, 0, 0),
            (17, 0, 0, 0, 0, 0),
            (18, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.6
    (
        3,
        10,
        &[
            (0, 1921, 1921, 1921, 1921, 1921),
            (1, 522, 522, 522, 522, 522),
            (2, 170, 257, 170, 170, 170),
            (3, 51, 133, 51, 51, 51),
            (4, 28, 31, 29, 31, 29),
            (5, 2, 2, 14, 2, 2),
            (6, 0, 0, 0, 0, 2),
            (7, 0, 0, 0, 0, 0),
            (8, 0, 0, 0, 0, 0),
            (9, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.7
    (
        4,
        10,
        &[
            (0, 9416, 9416, 9416, 9416, 9416),
            (1, 3273, 3273, 3273, 3273, 3273),
            (2, 1261, 1921, 1261, 1261, 1261),
            (3, 522, 522, 752, 522, 522),
            (4, 170, 378, 285, 257, 257),
            (5, 51, 139, 61, 139, 51),
            (6, 28, 31, 29, 31, 29),
            (7, 2, 2, 14, 2, 14),
            (8, 0, 0, 0, 0, 2),
            (9, 0, 0, 2, 0, 2),
            (10, 0, 0, 0, 0, 0),
            (11, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.8
    (
        5,
        10,
        &[
            (0, 18916, 18916, 18916, 18916, 18916),
            (1, 10944, 10944, 10944, 10944, 10944),
            (2, 6151, 6151, 6151, 6151, 6151),
            (3, 3468, 3468, 4824, 3468, 3468),
            (4, 2065, 2065, 2868, 2508, 2508),
            (5, 1160, 1207, 2007, 1207, 1160),
            (6, 578, 578, 1004, 578, 578),
            (7, 230, 274, 230, 274, 274),
            (8, 60, 83, 141, 83, 60),
            (9, 14, 14, 41, 14, 14),
            (10, 0, 14, 22, 14, 14),
            (11, 0, 2, 8, 2, 2),
            (12, 0, 0, 14, 0, 2),
            (13, 0, 0, 4, 2, 2),
            (14, 0, 0, 0, 0, 0),
            (15, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.9
    (
        6,
        10,
        &[
            (0, 24040, 24040, 24040, 24040, 24040),
            (1, 15836, 15836, 15836, 15836, 15836),
            (2, 10649, 10649, 10649, 10649, 10649),
            (3, 7153, 7153, 9200, 7153, 7153),
            (4, 5063, 5063, 6236, 5827, 5827),
            (5, 3562, 3562, 3616, 3562, 3562),
            (6, 1823, 1823, 2660, 1823, 1823),
            (7, 1222, 1222, 1895, 1222, 1222),
            (8, 639, 639, 970, 639, 639),
            (9, 285, 285, 493, 285, 300),
            (10, 54, 54, 188, 54, 54),
            (11, 21, 21, 73, 21, 21),
            (12, 7, 14, 29, 14, 14),
            (13, 0, 14, 14, 14, 14),
            // Printed for Λ: 14. Six schemes are kept; the sixth and the seventh change places if μ is rounded to the
            // two decimals of Table 5.1. M, on the other hand, only fits unrounded (Figure 5.13, height 12).
            (14, 0, 0, 8, 2, 2),
            (15, 0, 0, 14, 2, 2),
            (16, 0, 0, 4, 2, 2),
            (17, 0, 0, 0, 0, 0),
            (18, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.10
    (
        3,
        50,
        &[
            (0, 8297, 8297, 8297, 8297, 8297),
            (1, 2123, 2123, 2123, 2123, 2123),
            (2, 1345, 1345, 1402, 1402, 1402),
            (3, 428, 698, 673, 698, 673),
            (4, 137, 278, 137, 278, 137),
            (5, 14, 14, 76, 14, 67),
            (6, 14, 14, 14, 14, 14),
            (7, 0, 0, 14, 14, 14),
            (8, 0, 0, 0, 0, 0),
            (9, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.11
    (
        4,
        50,
        &[
            (0, 20066, 20066, 20066, 20066, 20066),
            (1, 10053, 10053, 10053, 10053, 10053),
            (2, 4612, 7036, 4612, 4612, 4612),
            (3, 2123, 2123, 3217, 2123, 2123),
            (4, 1345, 1848, 1555, 1402, 1402),
            (5, 359, 631, 359, 631, 359),
            (6, 137, 278, 137, 278, 137),
            (7, 14, 14, 76, 14, 14),
            (8, 0, 14, 14, 14, 14),
            (9, 0, 0, 14, 14, 14),
            (10, 0, 0, 0, 0, 0),
            (11, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.12
    (
        5,
        50,
        &[
            (0, 29650, 29650, 29650, 29650, 29650),
            (1, 19750, 19750, 19750, 19750, 19750),
            (2, 14575, 14575, 14575, 14575, 14575),
            (3, 10546, 10546, 12933, 10546, 10546),
            (4, 6954, 6954, 8073, 7328, 7947),
            (5, 4336, 4336, 6870, 4336, 4336),
            (6, 2002, 2002, 5014, 2002, 2002),
            (7, 1366, 1366, 2243, 1366, 1366),
            (8, 613, 613, 1068, 613, 613),
            (9, 169, 170, 234, 170, 169),
            (10, 59, 59, 137, 59, 59),
            (11, 14, 14, 14, 14, 14),
            (12, 0, 14, 14, 14, 14),
            (13, 0, 0, 14, 14, 14),
            (14, 0, 0, 0, 0, 0),
            (15, 0, 0, 0, 0, 0),
        ],
    ),
    // Figure 5.13
    (
        6,
        50,
        &[
            (0, 29868, 29868, 29868, 29868, 29868),
            (1, 24626, 24626, 24626, 24626, 24626),
            (2, 19084, 19084, 19084, 19084, 19084),
            (3, 15380, 15380, 18364, 15380, 15380),
            (4, 12278, 12278, 13893, 13156, 13630),
            (5, 9088, 9088, 9855, 9088, 9176),
            (6, 5515, 5515, 8444, 5515, 5515),
            (7, 4360, 4360, 6684, 4360, 4360),
            (8, 2482, 2482, 3959, 2482, 2482),
            (9, 1786, 1786, 2449, 1786, 1786),
            (10, 869, 869, 1169, 869, 869),
            (11, 137, 137, 515, 137, 137),
            (12, 14, 79, 234, 79, 79),
            (13, 0, 14, 14, 14, 14),
            (14, 0, 0, 14, 14, 14),
            (15, 0, 14, 14, 14, 14),
            (16, 0, 0, 14, 14, 14),
            (17, 0, 0, 0, 0, 0),
            (18, 0, 0, 0, 0, 0),
        ],
    ),
];

/// k, records suppressed, height, levels.
pub type Offer = (u64, u64, u32, &'static str);

/// What a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    Exact(Offer),
    /// With suppression, height or k relaxed.
    Offers([Option<Offer>; 3]),
}

use Printed::{Exact, Offers};

/// A request, with what it gets from the full lattice and from the partial one (Λ, 5 %).
pub struct Case {
    /// Number of quasi-identifiers, k, records that may be suppressed, highest levels.
    pub request: (usize, u64, u64, &'static str),
    pub full: Printed,
    pub partial: Printed,
}

/// Figure 5.16: k = 3, 10, 50. The levels are printed in sections 4.4 and 5.6.
///
/// The differences beside them in Figures 5.16 to 5.18 are in Figures 5.19 to 5.21 too, there with their signs.
pub const FIGURE_5_16: &[Case] = &[
    Case { request: (3, 3, 321, "211"), full: Exact((3, 125, 1, "100")), partial: Exact((3, 125, 1, "100")) },
    Case { request: (3, 10, 321, "211"), full: Exact((10, 170, 2, "110")), partial: Exact((10, 170, 2, "110")) },
    Case {
        request: (3, 50, 321, "211"),
        full: Exact((50, 251, 4, "211")),
        partial: Offers([Some((50, 673, 3, "111")), Some((50, 137, 4, "112")), Some((31, 314, 3, "111"))]),
    },
    // The print leaves out the line of the third relaxation; section 5.6 says "No solution".
    Case {
        request: (4, 3, 321, "2011"),
        full: Exact((3, 283, 3, "1011")),
        partial: Offers([Some((3, 635, 2, "1001")), Some((3, 50, 4, "1102")), None]),
    },
    Case {
        request: (4, 10, 321, "2011"),
        full: Offers([Some((10, 655, 4, "2011")), Some((10, 170, 4, "1210")), Some((5, 301, 4, "2011"))]),
        partial: Offers([Some((10, 2349, 2, "1001")), Some((10, 257, 4, "1201")), None]),
    },
    Case {
        request: (4, 50, 321, "2011"),
        full: Offers([Some((50, 4077, 4, "2011")), Some((50, 137, 6, "1212")), Some((5, 301, 4, "2011"))]),
        partial: Offers([Some((50, 7669, 2, "1001")), Some((50, 137, 6, "1212")), None]),
    },
    Case {
        request: (5, 3, 321, "21012"),
        full: Offers([Some((3, 656, 6, "21012")), Some((3, 108, 6, "10212")), None]),
        partial: Offers([Some((3, 3639, 2, "10001")), Some((3, 126, 6, "40200")), None]),
    },
    Case {
        request: (5, 10, 321, "21012"),
        full: Offers([Some((10, 2533, 6, "21012")), Some((10, 230, 7, "10222")), None]),
        partial: Offers([Some((10, 9223, 2, "10001")), Some((10, 274, 7, "40210")), None]),
    },
    Case {
        request: (5, 50, 321, "21012"),
        full: Offers([Some((50, 9214, 6, "21012")), Some((50, 169, 9, "40122")), None]),
        partial: Offers([Some((50, 19324, 2, "10001")), Some((50, 169, 9, "40122")), None]),
    },
    Case {
        request: (6, 3, 321, "211012"),
        full: Offers([Some((3, 1611, 7, "211012")), Some((3, 155, 8, "400202")), None]),
        partial: Offers([Some((3, 7226, 2, "100001")), Some((3, 155, 8, "400202")), None]),
    },
    Case {
        request: (6, 10, 321, "211012"),
        full: Offers([Some((10, 5362, 7, "211012")), Some((10, 285, 9, "401211")), None]),
        partial: Offers([Some((10, 14627, 2, "100001")), Some((10, 300, 9, "400212")), None]),
    },
    Case {
        request: (6, 50, 321, "211012"),
        full: Offers([Some((50, 15106, 7, "211012")), Some((50, 137, 11, "401222")), None]),
        partial: Offers([Some((50, 24558, 2, "100001")), Some((50, 137, 11, "401222")), None]),
    },
];

/// Figure 5.17: low, low-middle and middle levels. The levels are printed in sections 4.4 and 5.6.
pub const FIGURE_5_17: &[Case] = &[
    Case { request: (3, 10, 321, "101"), full: Exact((10, 257, 2, "101")), partial: Exact((10, 257, 2, "101")) },
    Case { request: (3, 10, 321, "211"), full: Exact((10, 170, 2, "110")), partial: Exact((10, 170, 2, "110")) },
    Case { request: (3, 10, 321, "212"), full: Exact((10, 170, 2, "110")), partial: Exact((10, 170, 2, "110")) },
    Case {
        request: (4, 10, 321, "1001"),
        full: Offers([Some((10, 2349, 2, "1001")), Some((10, 170, 4, "1210")), None]),
        partial: Offers([Some((10, 2349, 2, "1001")), Some((10, 257, 4, "1201")), None]),
    },
    // Printed for the partial lattice: 55, 10, 2349 and 61, 10, 257, which are number of the scheme, k, suppressed.
    Case {
        request: (4, 10, 321, "2011"),
        full: Offers([Some((10, 655, 4, "2011")), Some((10, 170, 4, "1210")), Some((5, 301, 4, "2011"))]),
        partial: Offers([Some((10, 2349, 2, "1001")), Some((10, 257, 4, "1201")), None]),
    },
    // In the full lattice 1102 suppresses as many as 1111.
    Case { request: (4, 10, 321, "2112"), full: Exact((10, 285, 4, "1111")), partial: Exact((10, 285, 4, "1102")) },
    Case {
        request: (5, 10, 321, "11001"),
        full: Offers([Some((10, 8169, 3, "11001")), Some((10, 230, 7, "10222")), None]),
        partial: Offers([Some((10, 9223, 2, "10001")), Some((10, 274, 7, "40210")), None]),
    },
    Case {
        request: (5, 10, 321, "21012"),
        full: Offers([Some((10, 2533, 6, "21012")), Some((10, 230, 7, "10222")), None]),
        partial: Offers([Some((10, 9223, 2, "10001")), Some((10, 274, 7, "40210")), None]),
    },
    Case {
        request: (5, 10, 321, "22112"),
        full: Offers([Some((10, 369, 8, "22112")), Some((10, 60, 8, "40112")), Some((9, 315, 8, "22112"))]),
        partial: Offers([Some((10, 2250, 5, "11102")), Some((10, 60, 8, "40112")), None]),
    },
    Case {
        request: (6, 10, 321, "111001"),
        full: Offers([Some((10, 12823, 4, "111001")), Some((10, 285, 9, "401211")), None]),
        partial: Offers([Some((10, 14627, 2, "100001")), Some((10, 300, 9, "400212")), None]),
    },
    // Printed for the full lattice: 5262, and 9365 for the difference; Figures 5.16 and 5.18 have 5362 and 9265.
    Case {
        request: (6, 10, 321, "211012"),
        full: Offers([Some((10, 5362, 7, "211012")), Some((10, 285, 9, "401211")), None]),
        partial: Offers([Some((10, 14627, 2, "100001")), Some((10, 300, 9, "400212")), None]),
    },
    Case {
        request: (6, 10, 321, "222112"),
        full: Offers([Some((10, 712, 10, "222112")), Some((10, 54, 10, "401212")), Some((5, 298, 10, "222112"))]),
        partial: Offers([Some((10, 3971, 6, "102102")), Some((10, 54, 10, "401212")), None]),
    },
];

/// Figure 5.18: 32, 321, 3216 records may be suppressed. The levels are printed in sections 4.4 and 5.6.
pub const FIGURE_5_18: &[Case] = &[
    Case {
        request: (3, 10, 32, "211"),
        full: Offers([Some((10, 55, 4, "211")), Some((10, 28, 4, "310")), Some((7, 31, 4, "211"))]),
        partial: Offers([Some((10, 77, 3, "111")), Some((10, 29, 4, "112")), Some((5, 32, 3, "111"))]),
    },
    Case { request: (3, 10, 321, "211"), full: Exact((10, 170, 2, "110")), partial: Exact((10, 170, 2, "110")) },
    Case { request: (3, 10, 3216, "211"), full: Exact((10, 1921, 0, "000")), partial: Exact((10, 1921, 0, "000")) },
    // Printed for the full lattice: 65, 10, 655 and 35, 10, 28, which are number of the scheme, k, suppressed.
    // In the full lattice 4110 suppresses as many as 3210.
    Case {
        request: (4, 10, 32, "2011"),
        full: Offers([Some((10, 655, 4, "2011")), Some((10, 28, 6, "3210")), None]),
        partial: Offers([Some((10, 2349, 2, "1001")), Some((10, 29, 6, "1212")), None]),
    },
    Case {
        request: (4, 10, 321, "2011"),
        full: Offers([Some((10, 655, 4, "2011")), Some((10, 170, 4, "1210")), Some((5, 301, 4, "2011"))]),
        partial: Offers([Some((10, 2349, 2, "1001")), Some((10, 257, 4, "1201")), None]),
    },
    Case { request: (4, 10, 3216, "2011"), full: Exact((10, 2110, 2, "2000")), partial: Exact((10, 2349, 2, "1001")) },
    Case {
        request: (5, 10, 32, "21012"),
        full: Offers([Some((10, 2533, 6, "21012")), Some((10, 14, 9, "40212")), None]),
        partial: Offers([Some((10, 9223, 2, "10001")), Some((10, 14, 9, "40212")), None]),
    },
    Case {
        request: (5, 10, 321, "21012"),
        full: Offers([Some((10, 2533, 6, "21012")), Some((10, 230, 7, "10222")), None]),
        partial: Offers([Some((10, 9223, 2, "10001")), Some((10, 274, 7, "40210")), None]),
    },
    // Printed for the full lattice: 551, 10, 2533, which are number of the scheme, k, suppressed.
    // k = 2 is also kept by 10000, with more records suppressed.
    Case {
        request: (5, 10, 3216, "21012"),
        full: Exact((10, 2533, 6, "21012")),
        partial: Offers([Some((10, 9223, 2, "10001")), Some((10, 578, 6, "40200")), Some((2, 2211, 2, "10001"))]),
    },
    Case {
        request: (6, 10, 32, "211012"),
        full: Offers([Some((10, 5362, 7, "211012")), Some((10, 21, 11, "401222")), None]),
        partial: Offers([Some((10, 14627, 2, "100001")), Some((10, 21, 11, "401222")), None]),
    },
    Case {
        request: (6, 10, 321, "211012"),
        full: Offers([Some((10, 5362, 7, "211012")), Some((10, 285, 9, "401211")), None]),
        partial: Offers([Some((10, 14627, 2, "100001")), Some((10, 300, 9, "400212")), None]),
    },
    Case {
        request: (6, 10, 3216, "211012"),
        full: Offers([Some((10, 5362, 7, "211012")), Some((10, 1222, 7, "400210")), Some((5, 2915, 7, "211012"))]),
        partial: Offers([Some((10, 14627, 2, "100001")), Some((10, 1222, 7, "400210")), None]),
    },
];

/// What the partial lattice's answer has more than the full lattice's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The answer is of another kind, or neither lattice has one. Printed as a dash.
    Neither,
    /// The full lattice answers, the partial one does not. The print has the full lattice's own numbers here.
    Lost,
    /// Records suppressed, height, k.
    By(i64, i64, i64),
}

use Difference::{By, Lost, Neither};

/// Differences of the exact answers, then of each relaxation; for 3 to 6 quasi-identifiers; for three requests.
///
/// Relaxations are compared with the full lattice's exact answer where only the partial lattice has none.
pub type Summary = [[[Difference; 3]; 4]; 4];

/// Figure 5.19, of the answers of Figure 5.16: k = 3, 10, 50.
pub const FIGURE_5_19: Summary = [
    // Exact answers
    [
        // Printed: 251, 4, 50.
        [By(0, 0, 0), By(0, 0, 0), Lost],
        // Printed: 283, 3, 3.
        [Lost, Neither, Neither],
        [Neither, Neither, Neither],
        [Neither, Neither, Neither],
    ],
    // Suppression relaxed
    [
        [Neither, Neither, By(422, -1, 0)],
        [By(352, -1, 0), By(1694, -2, 0), By(3592, -2, 0)],
        [By(2983, -4, 0), By(6690, -4, 0), By(10110, -4, 0)],
        [By(5615, -5, 0), By(9265, -5, 0), By(9452, -5, 0)],
    ],
    // Height relaxed
    [
        [Neither, Neither, By(-114, 0, 0)],
        [By(-233, 1, 0), By(87, 0, 0), By(0, 0, 0)],
        [By(18, 0, 0), By(44, 0, 0), By(0, 0, 0)],
        [By(0, 0, 0), By(15, 0, 0), By(0, 0, 0)],
    ],
    // k relaxed
    [
        [Neither, Neither, By(63, -1, -19)],
        // Printed: 283, 3, 3; 301, -4, 5; 301, -4, 5.
        [Lost, Lost, Lost],
        [Neither, Neither, Neither],
        [Neither, Neither, Neither],
    ],
];

/// Figure 5.20, of the answers of Figure 5.17: low, low-middle, middle levels.
pub const FIGURE_5_20: Summary = [
    // Exact answers
    [
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
        [Neither, Neither, By(0, 0, 0)],
        [Neither, Neither, Neither],
        [Neither, Neither, Neither],
    ],
    // Suppression relaxed
    [
        [Neither, Neither, Neither],
        [By(0, 0, 0), By(1694, -2, 0), Neither],
        [By(1054, -1, 0), By(6690, -4, 0), By(1881, -3, 0)],
        // Printed: 9365, -5, 0.
        [By(1804, -2, 0), By(9265, -5, 0), By(3259, -4, 0)],
    ],
    // Height relaxed
    [
        [Neither, Neither, Neither],
        [By(87, 0, 0), By(87, 0, 0), Neither],
        [By(44, 0, 0), By(44, 0, 0), By(0, 0, 0)],
        [By(15, 0, 0), By(15, 0, 0), By(0, 0, 0)],
    ],
    // k relaxed
    [
        [Neither, Neither, Neither],
        // Printed: –, –, –.
        [Neither, Lost, Neither],
        // Printed: 315, -8, 9.
        [Neither, Neither, Lost],
        // Printed: 298, 10, 5.
        [Neither, Neither, Lost],
    ],
];

/// Figure 5.21, of the answers of Figure 5.18: 32, 321, 3216 records may be suppressed.
pub const FIGURE_5_21: Summary = [
    // Exact answers
    [
        [Neither, By(0, 0, 0), By(0, 0, 0)],
        [Neither, Neither, By(239, 0, 0)],
        // Printed: 2533, -6, 10.
        [Neither, Neither, Lost],
        [Neither, Neither, Neither],
    ],
    // Suppression relaxed
    [
        [By(22, -1, 0), Neither, Neither],
        [By(1694, -2, 0), By(1694, -2, 0), Neither],
        [By(6690, -4, 0), By(6690, -4, 0), By(6690, -4, 0)],
        [By(9265, -5, 0), By(9265, -5, 0), By(9265, -5, 0)],
    ],
    // Height relaxed
    [
        [By(1, 0, 0), Neither, Neither],
        [By(1, 0, 0), By(87, 0, 0), Neither],
        [By(0, 0, 0), By(44, 0, 0), By(-1955, 0, 0)],
        [By(0, 0, 0), By(15, 0, 0), By(0, 0, 0)],
    ],
    // k relaxed
    [
        [By(1, -1, -2), Neither, Neither],
        // Printed: 301, -4, -5.
        [Neither, Lost, Neither],
        [Neither, Neither, By(-322, -4, -8)],
        // Printed: 2915, -7, -5.
        [Neither, Neither, Lost],
    ],
];

/// Figure 5.27: as Figure 5.19, with the histogram of the highest scheme added (Figure 5.23).
pub const FIGURE_5_27: Summary = [
    // Exact answers
    [
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
        [By(-142, 1, 0), Neither, Neither],
        [Neither, Neither, Neither],
        [Neither, Neither, Neither],
    ],
    // Suppression relaxed
    [
        [Neither, Neither, Neither],
        [Neither, By(0, 0, 0), By(0, 0, 0)],
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
    ],
    // Height relaxed
    [
        [Neither, Neither, Neither],
        [Neither, By(87, 0, 0), By(0, 0, 0)],
        [By(18, 0, 0), By(44, 0, 0), By(0, 0, 0)],
        [By(0, 0, 0), By(15, 0, 0), By(0, 0, 0)],
    ],
    // k relaxed
    [
        [Neither, Neither, Neither],
        [Neither, By(0, 0, 0), By(0, 0, 0)],
        [Neither, Neither, Neither],
        [Neither, Neither, Neither],
    ],
];

/// Figure 5.28: as Figure 5.20, with the histogram of the highest scheme added.
pub const FIGURE_5_28: Summary = [
    // Exact answers
    [
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
        [Neither, Neither, By(0, 0, 0)],
        [Neither, Neither, Neither],
        [Neither, Neither, Neither],
    ],
    // Suppression relaxed
    [
        [Neither, Neither, Neither],
        [By(0, 0, 0), By(0, 0, 0), Neither],
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
    ],
    // Height relaxed
    [
        [Neither, Neither, Neither],
        [By(87, 0, 0), By(87, 0, 0), Neither],
        [By(44, 0, 0), By(44, 0, 0), By(0, 0, 0)],
        [By(15, 0, 0), By(15, 0, 0), By(0, 0, 0)],
    ],
    // k relaxed
    [
        [Neither, Neither, Neither],
        // Printed: –, –, –.
        [Neither, By(0, 0, 0), Neither],
        [Neither, Neither, By(0, 0, 0)],
        [Neither, Neither, By(0, 0, 0)],
    ],
];

/// Figure 5.29: as Figure 5.21, with the histogram of the highest scheme added.
pub const FIGURE_5_29: Summary = [
    // Exact answers
    [
        [Neither, By(0, 0, 0), By(0, 0, 0)],
        [Neither, Neither, By(239, 0, 0)],
        [Neither, Neither, By(0, 0, 0)],
        [Neither, Neither, Neither],
    ],
    // Suppression relaxed
    [
        [By(0, 0, 0), Neither, Neither],
        [By(0, 0, 0), By(0, 0, 0), Neither],
        [By(0, 0, 0), By(0, 0, 0), Neither],
        [By(0, 0, 0), By(0, 0, 0), By(0, 0, 0)],
    ],
    // Height relaxed
    [
        [By(1, 0, 0), Neither, Neither],
        [By(1, 0, 0), By(87, 0, 0), Neither],
        // Printed: –, 0, –.
        [By(0, 0, 0), By(44, 0, 0), Neither],
        [By(0, 0, 0), By(15, 0, 0), By(0, 0, 0)],
    ],
    // k relaxed
    [
        [By(0, 0, 0), Neither, Neither],
        [Neither, By(0, 0, 0), Neither],
        [Neither, Neither, Neither],
        [Neither, Neither, By(0, 0, 0)],
    ],
];

/// Figure 5.22: percentage of the schemes of each height that are annotated, number of quasi-identifiers, k,
/// and the difference of the height relaxation in records suppressed, height and k. For the requests of Figure 5.16
/// whose answer is not exact; their two other relaxations are the same for all three percentages.
pub const FIGURE_5_22: &[(u64, usize, u64, Difference)] = &[
    (1, 3, 50, By(-114, 0, 0)),
    (1, 4, 3, By(-233, 1, 0)),
    (1, 4, 10, By(87, 0, 0)),
    (1, 4, 50, By(0, 0, 0)),
    (1, 5, 3, By(18, 0, 0)),
    (1, 5, 10, By(-89, 1, 0)),
    (1, 5, 50, By(81, 1, 0)),
    (1, 6, 3, By(0, 0, 0)),
    (1, 6, 10, By(15, 0, 0)),
    (1, 6, 50, By(-58, 1, 0)),
    (5, 3, 50, By(-114, 0, 0)),
    (5, 4, 3, By(-233, 1, 0)),
    (5, 4, 10, By(87, 0, 0)),
    (5, 4, 50, By(0, 0, 0)),
    (5, 5, 3, By(18, 0, 0)),
    (5, 5, 10, By(44, 0, 0)),
    (5, 5, 50, By(0, 0, 0)),
    (5, 6, 3, By(0, 0, 0)),
    (5, 6, 10, By(15, 0, 0)),
    (5, 6, 50, By(0, 0, 0)),
    (10, 3, 50, By(-114, 0, 0)),
    // Printed: -255, 0, 0. The search starts at height 4, one above the exact answer.
    (10, 4, 3, By(-255, 1, 0)),
    (10, 4, 10, By(0, 0, 0)),
    (10, 4, 50, By(0, 0, 0)),
    (10, 5, 3, By(0, 0, 0)),
    (10, 5, 10, By(0, 0, 0)),
    (10, 5, 50, By(0, 0, 0)),
    (10, 6, 3, By(0, 0, 0)),
    (10, 6, 10, By(0, 0, 0)),
    (10, 6, 50, By(0, 0, 0)),
];
