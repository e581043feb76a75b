//! Words that stand for sex, for yes and no, and for places on a scale, in several languages.

use crate::input::names::plain;

const MALE: &str = "
    male m man men boy mannlich maennlich masculin homme h masculino hombre varon homem maschio uomo mezczyzna barbat
    муж мужской м ч чоловік чоловіча erkek e";

const FEMALE: &str = "
    female f woman women girl weiblich w feminin femme femenino feminino mujer mulher femmina donna kobieta k vrouw v femeie
    жен женский ж жінка жіноча kvinna kadin";

const OTHER_SEX: &str = "other unknown u x diverse divers d non-binary nonbinary";

const YES_NO: &str = "
    yes no y n true false t f ja nein j oui non o si sim nao tak nie da nu да нет так ні evet hayir unknown";

/// Scales from one end to the other, a line each; alternatives at a place are joined by `/`.
const SCALES: &str = "
    very-low/verylow low medium/moderate/middle/normal/average high very-high/veryhigh
    never rarely/seldom sometimes/occasionally often/frequently/usually always
    never once-in-a-while about-half-the-time usually always
    none/no mild/minor/slight moderate severe/serious/major critical/very-severe fatal
    strongly-disagree disagree neutral/neither-agree-nor-disagree/undecided agree strongly-agree
    very-dissatisfied dissatisfied neutral satisfied very-satisfied
    very-poor/very-bad poor/bad fair good very-good excellent
    excellent very-good good fair poor
    small medium large extra-large
    young middle-aged/middle old
    no-education/none preschool primary/elementary lower-secondary secondary/high-school/upper-secondary some-college tertiary/college/university/bachelor master/graduate doctorate/phd
    preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th hs-grad some-college assoc-voc assoc-acdm bachelors masters prof-school doctorate
    less-than-high-school-degree high-school-degree some-college-or-associate-degree bachelor-degree graduate-degree
    none/no-schooling/illiterate primary/elementary middle-school/lower-secondary high-school/highschool/secondary/hs/hs-or-lower/high-school-or-less some-college associate/associates/associate-degree/vocational college/bachelor/bachelors/undergraduate/university/tertiary/graduation master/masters/graduate/grad/postgraduate/post-graduate md/jd/professional doctorate/doctor/phd/ph-d
    jan feb mar apr may jun jul aug sep oct nov dec
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    nie selten manchmal oft/haufig immer
    niedrig/gering mittel hoch
    jamais rarement parfois souvent toujours
    faible moyen eleve/fort
    nunca raramente/rara-vez a-veces/as-vezes frecuentemente/frequentemente/a-menudo siempre/sempre
    bajo/baixo/basso medio/media alto
    mai raramente qualche-volta/a-volte spesso sempre
    nigdy rzadko czasami czesto zawsze
    niski sredni wysoki
    nooit zelden soms vaak altijd
    laag gemiddeld hoog
    никогда редко иногда часто всегда
    низкий средний высокий
    ніколи рідко іноді часто завжди
    aldrig sallan ibland ofta alltid
    lag medel hog";

fn is_among(list: &str, text: &str) -> bool {
    let text = plain(text.trim());
    list.split_whitespace().any(|word| word == text)
}

pub(super) fn is_sex_word(text: &str) -> bool {
    [MALE, FEMALE, OTHER_SEX].into_iter().any(|list| is_among(list, text))
}

/// Whether a word is for men, for women, or neither, as a label to put spellings together.
pub(super) fn sex_of(text: &str) -> Option<&'static str> {
    let known = [(MALE, "male"), (FEMALE, "female"), (OTHER_SEX, "other or unknown")];
    known.into_iter().find(|(list, _)| is_among(list, text)).map(|(_, sex)| sex)
}

/// Whether there is a word for men and one for women: `D` and `M` may mean day and month.
pub(super) fn have_both_sexes<'a>(values: impl Iterator<Item = &'a str> + Clone) -> bool {
    [MALE, FEMALE].into_iter().all(|list| values.clone().any(|value| is_among(list, value)))
}

/// The names of the months in a few languages, whole and short.
const MONTHS: &str = "
    january february march april may june july august september october november december
    januar februar marz april mai juni juli august september oktober november dezember
    janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
    januari februari maart april mei juni juli augustus september oktober november december
    jan feb mar apr may jun jul aug sep oct nov dec
    jan feb mrz apr mai jun jul aug sept okt nov dez
    janv fevr mars avr mai juin juil aout sept oct nov dec
    ene feb mar abr may jun jul ago set oct nov dic
    gen fev mar apr mag giu lug ago set out nov dez";

/// The number of a month by its name.
pub(super) fn month_of(word: &str) -> Option<u32> {
    MONTHS
        .lines()
        .find_map(|line| line.split_whitespace().position(|month| month == word))
        .map(|place| place as u32 + 1)
}

pub(super) fn is_yes_no_word(text: &str) -> bool {
    is_among(YES_NO, text)
}

/// The place of each value on the first scale that has them all; values may lack places, and two may share one.
pub(super) fn places_on_scale(values: &[&str]) -> Option<Vec<usize>> {
    let joined = |value: &&str| {
        let plain = plain(value);
        plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    };
    let values: Vec<String> = values.iter().map(joined).collect();
    SCALES.lines().find_map(|line| {
        let place =
            |value: &String| line.split_whitespace().position(|words| words.split('/').any(|word| word == value));
        values.iter().map(place).collect::<Option<Vec<usize>>>().filter(|places| !places.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_put_words_in_order() {
        assert_eq!(places_on_scale(&["High", "low", "Medium"]), Some(vec![3, 1, 2]));
        assert_eq!(places_on_scale(&["immer", "nie", "häufig"]), Some(vec![4, 0, 3]));
        assert_eq!(places_on_scale(&["SEVERE", "MILD", "MODERATE"]), Some(vec![3, 1, 2]));
        assert_eq!(places_on_scale(&["low", "blue"]), None);
        assert_eq!(places_on_scale(&[]), None);
    }

    #[test]
    fn words_for_sex_and_for_yes() {
        assert!(["M", "female", "männlich", "Жен", "Mujer"].into_iter().all(is_sex_word));
        assert!(["yes", "NEIN", "sí", "ні"].into_iter().all(is_yes_no_word));
        assert!(have_both_sexes(["F", "M"].into_iter()) && !have_both_sexes(["D", "M"].into_iter()));
        assert!(!is_sex_word("apple") && !is_yes_no_word("7"));
    }
}
