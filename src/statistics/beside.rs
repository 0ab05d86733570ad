//! The figures of this room beside those of SciPy, statsmodels, krippendorff and ppi_py, of the same data: see
//! `scripts/statistics-beside`, which wrote them.

use serde::Deserialize;

use super::*;

const TOLERANCE: f64 = 1e-6;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Values {
    origin: String,
    interval: Vec<MeanVector>,
    paired: Vec<PairedVector>,
    welch: Vec<OneCaseVector>,
    rate: Vec<RateVector>,
    holm: Vec<HolmVector>,
    quantile: Vec<QuantileVector>,
    at_least: Vec<LowerBoundVector>,
    t_quantile: Vec<TQuantileVector>,
    kappa: Vec<KappaVector>,
    alpha: Vec<AlphaVector>,
    corrected: Vec<CorrectionVector>,
    components: Vec<ComponentsVector>,
}

#[derive(Deserialize)]
struct MeanVector {
    cases: Vec<Vec<f64>>,
    mean: f64,
    error: f64,
    degrees: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PairedVector {
    cases: Vec<Vec<f64>>,
    mean: f64,
    p: f64,
    sign_flip: f64,
    equivalence: f64,
    above: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct OneCaseVector {
    conditions: Vec<Vec<f64>>,
    mean: f64,
    error: f64,
    degrees: f64,
    low: f64,
}

#[derive(Deserialize)]
struct RateVector {
    cases: Vec<(u32, u32)>,
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct HolmVector {
    chances: Vec<f64>,
    adjusted: Vec<f64>,
}

#[derive(Deserialize)]
struct QuantileVector {
    values: Vec<f64>,
    share: f64,
    value: f64,
}

#[derive(Deserialize)]
struct LowerBoundVector {
    values: Vec<f64>,
    share: f64,
    least: Option<f64>,
}

#[derive(Deserialize)]
struct TQuantileVector {
    degrees: f64,
    level: f64,
    width: f64,
}

#[derive(Deserialize)]
struct KappaVector {
    judge: Vec<f64>,
    truth: Vec<f64>,
    kappa: f64,
}

#[derive(Deserialize)]
struct AlphaVector {
    ratings: Vec<[u32; 2]>,
    alpha: f64,
}

#[derive(Deserialize)]
struct CorrectionVector {
    judge: Vec<f64>,
    truth: Vec<f64>,
    trust: f64,
    mean: f64,
}

#[derive(Deserialize)]
struct ComponentsVector {
    scores: Vec<Vec<Vec<f64>>>,
    cases: f64,
    repeats: f64,
    judging: f64,
}

fn values() -> Values {
    serde_json::from_str(include_str!("../../tests/fixtures/statistics/values.json")).unwrap()
}

#[track_caller]
fn near(own: f64, theirs: f64, of: &str) {
    assert!((own - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0), "{of}: {own} and {theirs}");
}

fn cells(cases: &[Vec<f64>]) -> Vec<Cell> {
    let cell = |(case, values): (usize, &Vec<f64>)| Cell { case, values: values.iter().copied().collect() };
    cases.iter().enumerate().map(cell).collect()
}

#[test]
fn means_of_cases_have_scipys_interval() {
    let values = values();
    assert!(values.origin.contains("scipy"), "{}", values.origin);
    let everywhere = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    for MeanVector { cases, mean, error, degrees, low, high } in values.interval {
        let own = figure(&cells(&cases), 1).unwrap();
        let (own_error, interval) = (own.error.unwrap(), own.interval(everywhere).unwrap());
        let pairs = [(own.mean, mean), (own_error.value, error), (own_error.degrees, degrees)];
        pairs.into_iter().chain([(interval.low, low), (interval.high, high)]).for_each(|(a, b)| near(a, b, "interval"));
    }
    for OneCaseVector { conditions, mean, error, degrees, low } in values.welch {
        let cell = |values: &Vec<f64>| Cell { case: 0, values: values.iter().copied().collect() };
        let own = figure(&conditions.iter().map(cell).collect::<Vec<_>>(), 1).unwrap();
        let (own_error, interval) = (own.error.unwrap(), own.interval(everywhere).unwrap());
        let pairs = [(own.mean, mean), (own_error.value, error), (own_error.degrees, degrees), (interval.low, low)];
        pairs.into_iter().for_each(|(a, b)| near(a, b, "one case"));
    }
    for TQuantileVector { degrees, level, width } in values.t_quantile {
        near(t_half_width(degrees, level), width, &format!("t of {degrees} at {level}"));
    }
}

#[test]
fn pairs_have_scipys_tests_and_statsmodels_equivalence() {
    let values = values();
    for PairedVector { cases, mean, p, sign_flip, equivalence, above, low, high } in values.paired {
        let pair = |(case, values): (usize, &Vec<f64>)| -> Vec<Paired> {
            values.iter().map(|difference| Paired { case, kind: 0, difference: *difference }).collect()
        };
        let own = difference(cases.iter().enumerate().flat_map(pair).collect::<Vec<_>>(), 1e9, 1).unwrap();
        let interval = own.interval().unwrap();
        let within = own.seen_p(0.05 - own.figure.mean.abs());
        let tests = [(own.p, p), (within, equivalence), (own.seen_p(own.figure.mean + 0.03), above)];
        tests.into_iter().for_each(|(a, b)| near(a, b, "paired"));
        near(own.sign_flip_p, sign_flip, "flip of signs");
        let figures = [(own.figure.mean, mean), (interval.low, low), (interval.high, high)];
        figures.into_iter().for_each(|(a, b)| near(a, b, "paired"));
    }
    for HolmVector { chances, adjusted } in values.holm {
        holm(&chances).iter().zip(&adjusted).for_each(|(own, theirs)| near(*own, *theirs, "Holm"));
    }
}

#[test]
fn rates_and_quantiles_are_numpys_and_scipys() {
    let values = values();
    for RateVector { cases, value, low, high } in values.rate {
        let share = |(case, &(hits, all)): (usize, &(u32, u32))| Share { case, hits: f64::from(hits), all };
        let own = rate(&cases.iter().enumerate().map(share).collect::<Vec<_>>()).unwrap();
        let interval = own.interval.unwrap();
        near(own.value, value, "rate");
        // Cases that were not seen may make it wider, and all that there is where all trials came out alike.
        let unseen = unseen_share(cases.len() as u32, 0.025);
        let (lowest, highest) = (value - unseen * value, value + unseen * (1.0 - value));
        let is_of_one_kind = value == 0.0 || value == 1.0;
        let [low, high] = if is_of_one_kind { [lowest, highest] } else { [low.min(lowest), high.max(highest)] };
        near(interval.low, low, "rate's lower end");
        near(interval.high, high, "rate's upper end");
    }
    for QuantileVector { values, share, value } in values.quantile {
        let single = |(case, value): (usize, &f64)| CaseValues { case, value: *value, count: 1 };
        let of_cases: Vec<CaseValues> = values.iter().enumerate().map(single).collect();
        near(quantile(&of_cases, share).unwrap().value, value, "quantile");
    }
    for LowerBoundVector { values, share, least } in values.at_least {
        let single = |value: &f64| CaseValues { case: 0, value: *value, count: 1 };
        let of_one_case: Vec<CaseValues> = values.iter().map(single).collect();
        assert_eq!(quantile_at_least(&of_one_case, share), least, "{} at {share}", values.len());
    }
}

#[test]
fn agreement_is_statsmodels_and_krippendorffs_and_corrections_are_ppi_pys() {
    let values = values();
    for KappaVector { judge, truth, kappa: theirs } in values.kappa {
        let pair = |(case, (&judge, &truth)): (usize, (&f64, &f64))| Pair { case, judge, truth };
        near(kappa(&judge.iter().zip(&truth).enumerate().map(pair).collect::<Vec<_>>()).unwrap().value, theirs, "κ");
    }
    for AlphaVector { ratings, alpha: theirs } in values.alpha {
        let rated = |(case, &[yes, no]): (usize, &[u32; 2])| Ratings { case, yes, no };
        near(alpha(&ratings.iter().enumerate().map(rated).collect::<Vec<_>>()).unwrap().value, theirs, "α");
    }
    // How far the judge is trusted is eval-job's own choice: the mean is linear in it.
    for both in values.corrected.chunks(2) {
        let [none, full] = both else { panic!("pairs") };
        assert_eq!((none.trust, full.trust), (0.0, 1.0));
        let unit = |(case, judge): (usize, &f64)| Unit {
            case,
            weight: 1.0,
            judge: *judge,
            truth: none.truth.get(case).copied(),
        };
        let own = corrected(&none.judge.iter().enumerate().map(unit).collect::<Vec<_>>()).unwrap();
        assert!(own.trust > 0.5, "{own:?}");
        near(own.mean.value, none.mean + own.trust * (full.mean - none.mean), "corrected");
    }
    for ComponentsVector { scores, cases, repeats, judging } in values.components {
        let judged = |(case, of_case): (usize, &Vec<Vec<f64>>)| -> Vec<JudgedScore> {
            let judged = |(repeat, scores): (usize, &Vec<f64>)| JudgedScore {
                case,
                repeat,
                scores: scores.iter().copied().collect(),
                ..JudgedScore::default()
            };
            (1..).zip(of_case).map(judged).collect()
        };
        let own = spread_shares(&scores.iter().enumerate().flat_map(judged).collect::<Vec<_>>()).unwrap();
        [(own.cases, cases), (own.repeats, repeats), (own.judging, judging)]
            .into_iter()
            .for_each(|(a, b)| near(a, b, "components"));
    }
}
