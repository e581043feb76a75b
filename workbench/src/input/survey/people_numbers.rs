//! Numbers that countries give their people, by their form and, where they have one, by their check digit.

/// Whether a text can be the number of a person in one of the countries that are known here.
///
/// A check of one digit is passed by one of ten numbers that mean something else, so that one value alone says little.
pub(super) fn is_national_number(text: &str) -> bool {
    let compact: String = text.chars().filter(|character| ![' ', '.'].contains(character)).collect();
    let digits: Vec<u32> = compact.chars().filter_map(|character| character.to_digit(10)).collect();
    let is_plain = compact.len() == digits.len();
    is_of_letters(&compact) || is_in_groups(text, &digits) || (is_plain && passes_a_check(&digits))
}

/// Those with letters in them: Italy, Mexico, Spain, the United Kingdom, Germany, Finland.
fn is_of_letters(text: &str) -> bool {
    fits(text, "AAAAAA99A99A999A")
        || (text.is_ascii()
            && text.len() == 18
            && fits(&text[..10], "AAAA999999")
            && text[10..].starts_with(['H', 'M']))
        || (fits(text, "99999999A") && has_spanish_letter(&text[..8], text))
        || (fits(text, "A9999999A")
            && text.starts_with(['X', 'Y', 'Z'])
            && has_spanish_letter(&spanish_digits(text), text))
        || (fits(text, "AA999999A") && text.ends_with(['A', 'B', 'C', 'D']))
        || fits(text, "99999999A999")
        || fits(text, "999999-999A")
        || fits(text, "999999A9999")
}

/// The digits of a number of foreigners in Spain: X, Y and Z are 0, 1 and 2.
fn spanish_digits(text: &str) -> String {
    let first = match text.as_bytes()[0] {
        b'X' => '0',
        b'Y' => '1',
        _ => '2',
    };
    format!("{first}{}", &text[1..8])
}

fn has_spanish_letter(digits: &str, text: &str) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let letter = digits.parse::<usize>().map(|number| LETTERS[number % 23]);
    letter.is_ok_and(|letter| text.as_bytes().last() == Some(&letter))
}

/// Those that are written in groups: the United States, Brazil, Russia, Sweden, Denmark.
fn is_in_groups(text: &str, digits: &[u32]) -> bool {
    fits(text, "999-99-9999")
        || (fits(text, "999.999.999-99") && is_cpf(digits))
        || fits(text, "999-999-999 99")
        || ((fits(text, "999999-9999") || fits(text, "999999+9999")) && (luhn(digits) || is_day_and_month(digits)))
}

fn is_day_and_month(digits: &[u32]) -> bool {
    (1..=31).contains(&(digits[0] * 10 + digits[1])) && (1..=12).contains(&(digits[2] * 10 + digits[3]))
}

fn passes_a_check(digits: &[u32]) -> bool {
    match digits.len() {
        9 => is_bsn(digits),
        11 => is_pesel(digits) || is_cpf(digits) || is_turkish(digits),
        13 => is_cnp(digits),
        15 => is_nir(digits),
        _ => false,
    }
}

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The Netherlands: the test of eleven.
fn is_bsn(digits: &[u32]) -> bool {
    let sum = weighted(digits, &[9, 8, 7, 6, 5, 4, 3, 2]);
    sum > 0 && sum >= digits[8] && (sum - digits[8]).is_multiple_of(11)
}

/// Poland: the date of birth, and a check digit.
fn is_pesel(digits: &[u32]) -> bool {
    let month = (digits[2] * 10 + digits[3]) % 20;
    (1..=12).contains(&month) && weighted(digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
}

/// Brazil: two check digits.
fn is_cpf(digits: &[u32]) -> bool {
    let check = |n: usize| {
        let weights: Vec<u32> = (0..n as u32).map(|i| n as u32 + 1 - i).collect();
        let rest = weighted(digits, &weights) * 10 % 11 % 10;
        rest == digits[n]
    };
    digits.len() == 11 && digits.iter().any(|digit| *digit != digits[0]) && check(9) && check(10)
}

/// Turkey: two check digits.
fn is_turkish(digits: &[u32]) -> bool {
    let odd: u32 = digits[..9].iter().step_by(2).sum();
    let even: u32 = digits[1..8].iter().step_by(2).sum();
    digits[0] != 0 && (odd * 7 + 90 - even) % 10 == digits[9] && digits[..10].iter().sum::<u32>() % 10 == digits[10]
}

/// Romania: sex and date of birth, and a check digit.
fn is_cnp(digits: &[u32]) -> bool {
    let rest = weighted(digits, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    digits[0] != 0 && (if rest == 10 { 1 } else { rest }) == digits[12]
}

/// France: sex, year and month of birth, and a key.
fn is_nir(digits: &[u32]) -> bool {
    let number = |digits: &[u32]| digits.iter().fold(0u64, |number, digit| number * 10 + u64::from(*digit));
    (1..=2).contains(&digits[0]) && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
}

/// Whether a text follows a pattern: 9 for a digit, A for a capital letter, h for a hexadecimal digit, others as they are.
pub(super) fn fits(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            b'h' => byte.is_ascii_hexdigit(),
            other => byte == other,
        })
}

/// Luhn's check: every second digit from the right is doubled, and the sum of all digits ends in 0.
pub(super) fn luhn(digits: &[u32]) -> bool {
    let doubled = |(i, digit): (usize, &u32)| match i % 2 {
        1 if *digit > 4 => 2 * digit - 9,
        1 => 2 * digit,
        _ => *digit,
    };
    digits.iter().rev().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_people_pass_and_others_do_not() {
        for number in [
            "123-45-6789",
            "RSSMRA85T10A562S",
            "12345678Z",
            "X1234567L",
            "QQ123456C",
            "65170839J008",
            "131052-308T",
            "529.982.247-25",
            "52998224725",
            "112-233-445 95",
            "811228-9874",
            "111222333",
            "44051401359",
            "10000000146",
            "1960523460016",
            "255081416802538",
        ] {
            assert!(is_national_number(number), "{number}");
        }
        for number in [
            "12345678A",
            "52998224724",
            "111222334",
            "44051401358",
            "1960523460017",
            "255081416802539",
            "12345",
            "2019-12-31",
        ] {
            assert!(!is_national_number(number), "{number}");
        }
        // A running number is not taken for one.
        let n_passing =
            (100_000_000..100_001_000).filter(|number: &u32| is_national_number(&number.to_string())).count();
        assert!(n_passing < 150, "{n_passing}");
    }
}
