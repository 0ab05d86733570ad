//! Where the spread of a score comes from: cases, kinds of users, users, repetitions, judging.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::sums::Sums;

/// The fewest degrees of freedom by which a component can be estimated.
const LEAST_DEGREES: u32 = 3;

/// The score of one conversation, judged once or several times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JudgedScore {
    /// The case.
    pub case: usize,
    /// The kind of user; the same number everywhere where a case is run with one.
    pub persona: usize,
    /// The condition.
    pub condition: usize,
    /// The agent's model.
    pub model: usize,
    /// The repetition: in those of one number all models meet the same user.
    pub repeat: usize,
    /// The scores by each judging.
    pub scores: Sums,
}

/// The variance of a mean score over cases, by where it comes from: the shares add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpreadShares {
    /// The share by which the cases differ from each other.
    pub cases: f64,
    /// The share by which cases differ in how they go with each kind of user; `None` where they were run with one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personas: Option<f64>,
    /// The share by which repetitions differ alike for all models: the user's, whose seed they share. `None` of a single model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<f64>,
    /// The share by which the repetitions of a case differ beyond it, apart from judging: the agent's, and the user's where that
    /// can't be separated.
    pub repeats: f64,
    /// The share by which judgings of the same conversation differ.
    pub judging: f64,
}

/// A pooled variance, or covariance, with its degrees of freedom.
#[derive(Default)]
struct Pooled {
    squares: f64,
    degrees: u32,
}

impl Pooled {
    fn add(&mut self, values: &Sums) {
        if let Some(variance) = values.variance() {
            self.add_variance(variance, values.count - 1);
        }
    }

    fn add_variance(&mut self, variance: f64, degrees: u32) {
        self.squares += variance * f64::from(degrees);
        self.degrees += degrees;
    }

    /// The variance; `None` where too little was repeated to tell it.
    fn variance(&self) -> Option<f64> {
        (self.degrees >= LEAST_DEGREES).then(|| self.squares / f64::from(self.degrees))
    }
}

/// Where conversations are repetitions of each other: the case, the kind of user, the condition.
type Setting = (usize, usize, usize);

/// The means of the conversations of a setting: of each model by repetition.
type ModelMeans = BTreeMap<usize, BTreeMap<usize, f64>>;

/// The share of the variance of single conversations that is left in the mean of several: of those that are drawn for each
/// conversation, and of those that are drawn for each repetition of a setting.
#[derive(Default)]
struct ResidualVariance {
    each: Sums,
    shared: Sums,
}

impl ResidualVariance {
    fn add<'a>(&mut self, settings: impl Iterator<Item = &'a ModelMeans> + Clone) {
        let count = settings.clone().map(BTreeMap::len).sum::<usize>() as f64;
        let one = |values: &BTreeMap<usize, f64>| 1.0 / values.len() as f64;
        self.each.add(settings.clone().flat_map(BTreeMap::values).map(one).sum::<f64>() / count.powi(2));
        let shared = |models: &ModelMeans| {
            let repeats = models.values().map(BTreeMap::len).max().unwrap_or(1);
            (models.len() as f64).powi(2) / repeats as f64
        };
        self.shared.add(settings.map(shared).sum::<f64>() / count.powi(2));
    }

    /// The rest of these variances.
    fn of(&self, each: f64, shared: f64) -> Option<f64> {
        Some(each * self.each.mean()? + shared * self.shared.mean()?)
    }
}

/// The shares of cases, kinds of users, users, repetitions and judging in the variance of a mean score whose conversations are judged
/// once each; `None` where cases, repetitions or judgings are too few to estimate them, and where nothing varies. A component whose
/// estimate is below 0 counts as 0.
///
/// Source: the method of moments for nested and crossed random effects, Searle, Casella and McCulloch 1992, chapters 4 and 5.
pub fn spread_shares(judged: &[JudgedScore]) -> Option<SpreadShares> {
    let (mut judging, mut settings) = (Pooled::default(), BTreeMap::<Setting, ModelMeans>::new());
    let mut of_one_mean = Sums::default();
    for it in judged {
        judging.add(&it.scores);
        let Some(mean) = it.scores.mean() else { continue };
        let models = settings.entry((it.case, it.persona, it.condition)).or_default();
        models.entry(it.model).or_default().insert(it.repeat, mean);
        of_one_mean.add(1.0 / f64::from(it.scores.count));
    }
    let judging = judging.variance()?;
    let mut within = Pooled::default();
    settings.values().flat_map(BTreeMap::values).for_each(|values| within.add(&values.values().copied().collect()));
    let within = within.variance()?;
    let apart_from_judging = (within - judging * of_one_mean.mean()?).max(0.0);
    let users = shared_by_models(&settings).map(|variance| variance.clamp(0.0, apart_from_judging));
    let (shared, each) = (users.unwrap_or(0.0), within - users.unwrap_or(0.0));
    let mut left = ResidualVariance::default();
    let mut means = Sums::default();
    for of_case in in_units(&settings, |(case, ..)| (case, 0)).values() {
        left.add(of_case.iter().copied());
        means.add(mean(of_case)?);
    }
    let personas = by_personas(&settings, [each, shared]);
    let kinds = settings.keys().map(|(_, persona, _)| persona).collect::<BTreeSet<_>>().len().max(1);
    let of_personas = personas.unwrap_or(0.0) / kinds as f64;
    let between = means.variance().filter(|_| means.count > LEAST_DEGREES)?;
    let cases = (between - of_personas - left.of(each, shared)?).max(0.0);
    let agents = apart_from_judging - shared;
    let parts = [cases, of_personas, left.of(0.0, shared)?, left.of(agents, 0.0)?, left.of(judging, 0.0)?];
    let all: f64 = parts.iter().sum();
    let [cases, of_personas, of_users, repeats, judging] = parts.map(|part| part / all);
    (all > 0.0).then(|| SpreadShares {
        cases,
        personas: personas.map(|_| of_personas),
        users: users.map(|_| of_users),
        repeats,
        judging,
    })
}

/// The settings that are averaged together, by the unit of each.
fn in_units(
    settings: &BTreeMap<Setting, ModelMeans>,
    unit: impl Fn(Setting) -> (usize, usize),
) -> BTreeMap<(usize, usize), Vec<&ModelMeans>> {
    let mut units: BTreeMap<(usize, usize), Vec<&ModelMeans>> = BTreeMap::new();
    settings.iter().for_each(|(setting, models)| units.entry(unit(*setting)).or_default().push(models));
    units
}

/// The mean over the models of these settings, each of which is the mean of its repetitions.
fn mean(settings: &[&ModelMeans]) -> Option<f64> {
    let of_model = |values: &BTreeMap<usize, f64>| values.values().copied().collect::<Sums>().mean();
    settings.iter().flat_map(|models| models.values()).filter_map(of_model).collect::<Sums>().mean()
}

/// The variance that the repetitions of a setting share, whatever the model: the covariance of the models over the repetitions that
/// both have. `None` where there are not enough of those.
fn shared_by_models(settings: &BTreeMap<Setting, ModelMeans>) -> Option<f64> {
    let mut pooled = Pooled::default();
    for models in settings.values() {
        let models: Vec<&BTreeMap<usize, f64>> = models.values().collect();
        let (mut of_pairs, mut degrees) = (Sums::default(), 0);
        for (place, one) in models.iter().enumerate() {
            for other in &models[place + 1..] {
                let both: Vec<[f64; 2]> = one.iter().filter_map(|(it, a)| Some([*a, *other.get(it)?])).collect();
                let count = both.len() as u32;
                let mean = |side: usize| both.iter().map(|pair| pair[side]).collect::<Sums>().mean();
                let (Some(a), Some(b), 2..) = (mean(0), mean(1), count) else { continue };
                let products: f64 = both.iter().map(|[one, other]| (one - a) * (other - b)).sum();
                of_pairs.add(products / f64::from(count - 1));
                degrees = degrees.max(count - 1);
            }
        }
        if let Some(covariance) = of_pairs.mean() {
            pooled.add_variance(covariance, degrees);
        }
    }
    pooled.variance()
}

/// The variance by which cases differ in how they go with each kind of user, over the cases that were run with all kinds; `None`
/// where there are not enough of those. How the kinds differ in all cases alike is no part of it: it moves no case from another.
fn by_personas(settings: &BTreeMap<Setting, ModelMeans>, [each, shared]: [f64; 2]) -> Option<f64> {
    let kinds: BTreeSet<usize> = settings.keys().map(|(_, persona, _)| *persona).collect();
    let units = in_units(settings, |(case, persona, _)| (case, persona));
    let cases: BTreeSet<usize> = units.keys().map(|(case, _)| *case).collect();
    let is_whole = |case: &usize| kinds.iter().all(|kind| units.contains_key(&(*case, *kind)));
    let cases: Vec<usize> = cases.into_iter().filter(is_whole).collect();
    let degrees = cases.len().saturating_sub(1) * kinds.len().saturating_sub(1);
    if degrees < LEAST_DEGREES as usize {
        return None;
    }
    let (mut left, mut table) = (ResidualVariance::default(), Vec::new());
    for case in &cases {
        let of_case: Vec<&Vec<&ModelMeans>> = kinds.iter().map(|kind| &units[&(*case, *kind)]).collect();
        of_case.iter().for_each(|unit| left.add(unit.iter().copied()));
        table.push(of_case.into_iter().map(|unit| mean(unit)).collect::<Option<Vec<f64>>>()?);
    }
    let all = table.iter().flatten().copied().collect::<Sums>().mean()?;
    let of_kind = |kind: usize| table.iter().map(|row| row[kind]).collect::<Sums>().mean();
    let of_kinds: Vec<f64> = (0..kinds.len()).map(of_kind).collect::<Option<_>>()?;
    let mut squares = 0.0;
    for row in &table {
        let own = row.iter().copied().collect::<Sums>().mean()?;
        squares += row.iter().zip(&of_kinds).map(|(value, kind)| (value - own - kind + all).powi(2)).sum::<f64>();
    }
    Some((squares / degrees as f64 - left.of(each, shared)?).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(rng: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// How many there are of each.
    #[derive(Clone, Copy)]
    struct Design {
        cases: usize,
        personas: usize,
        models: usize,
        repeats: usize,
        samples: usize,
    }

    /// Conversations with these standard deviations of cases, personas, users, repetitions and judging. The personas and the
    /// conditions also differ in all cases alike.
    fn planted(deviations: [f64; 5], design: Design, seed: u64) -> Vec<JudgedScore> {
        let [cases, personas, users, repeats, judging] = deviations;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut all = Vec::new();
        for case in 0..design.cases {
            let of_case = cases * normal(&mut rng);
            for persona in 0..design.personas {
                let of_persona = of_case + personas * normal(&mut rng) + 0.3 * persona as f64;
                for (condition, repeat) in (0..2).flat_map(|it| (1..=design.repeats).map(move |repeat| (it, repeat))) {
                    let of_user = of_persona + users * normal(&mut rng) + 0.2 * condition as f64;
                    for model in 0..design.models {
                        let own = of_user + repeats * normal(&mut rng);
                        let scores = (0..design.samples).map(|_| own + judging * normal(&mut rng)).collect();
                        all.push(JudgedScore { case, persona, condition, model, repeat, scores });
                    }
                }
            }
        }
        all
    }

    /// The shares on average over many draws.
    fn found(deviations: [f64; 5], design: Design) -> [f64; 5] {
        const DRAWS: u32 = 200;
        let mut found = [0.0; 5];
        for seed in 0..DRAWS {
            let shares = spread_shares(&planted(deviations, design, seed.into())).unwrap();
            assert_eq!(shares.personas.is_some(), design.personas > 1);
            assert_eq!(shares.users.is_some(), design.models > 1);
            let SpreadShares { cases, personas, users, repeats, judging } = shares;
            let shares = [cases, personas.unwrap_or(0.0), users.unwrap_or(0.0), repeats, judging];
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            found.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share / f64::from(DRAWS));
        }
        found
    }

    /// The shares that such deviations have in the mean of a case.
    fn expected(deviations: [f64; 5], design: Design) -> [f64; 5] {
        let [cases, personas, users, repeats, judging] = deviations.map(|it| it * it);
        let settings = (2 * design.personas * design.repeats) as f64;
        let conversations = settings * design.models as f64;
        let parts = [
            cases,
            personas / design.personas as f64,
            users / settings,
            repeats / conversations,
            judging / conversations,
        ];
        parts.map(|part| part / parts.iter().sum::<f64>())
    }

    fn assert_found(deviations: [f64; 5], design: Design) {
        let expected = expected(deviations, design);
        for (found, expected) in found(deviations, design).into_iter().zip(expected) {
            // An estimate that is cut off at 0 is too large on average where there is nothing.
            let room = if deviations.contains(&0.0) { 0.13 } else { 0.1 };
            assert!((found - expected).abs() < room, "{deviations:?}: {found} {expected}");
        }
    }

    #[test]
    fn planted_shares_are_found_again() {
        for [cases, repeats, judging] in
            [[0.2, 0.1, 0.05], [0.05, 0.2, 0.1], [0.1, 0.05, 0.3], [0.0, 0.2, 0.0], [0.2, 0.0, 0.1]]
        {
            for (cases_held, times, samples) in [(20, 3, 3), (40, 2, 5)] {
                let design = Design { cases: cases_held, personas: 1, models: 1, repeats: times, samples };
                assert_found([cases, 0.0, 0.0, repeats, judging], design);
            }
        }
    }

    #[test]
    fn kinds_of_users_and_what_users_say_are_told_from_the_agent() {
        let design = Design { cases: 30, personas: 3, models: 3, repeats: 3, samples: 3 };
        for deviations in [
            [0.05, 0.2, 0.1, 0.1, 0.1],
            [0.05, 0.05, 0.3, 0.1, 0.05],
            [0.05, 0.05, 0.05, 0.4, 0.1],
            [0.2, 0.0, 0.2, 0.2, 0.0],
            [0.02, 0.1, 0.0, 0.3, 0.3],
        ] {
            assert_found(deviations, design);
        }
        // A single model shows nothing of what users say, a single persona nothing of their kinds.
        assert_found([0.1, 0.0, 0.3, 0.1, 0.1], Design { personas: 1, ..design });
        let alone = found([0.1, 0.1, 0.2, 0.2, 0.1], Design { models: 1, ..design });
        assert!(alone[2] == 0.0 && alone[3] > 0.2, "{alone:?}");
    }

    #[test]
    fn what_was_not_repeated_is_not_told() {
        let design = Design { cases: 20, personas: 1, models: 1, repeats: 3, samples: 3 };
        for design in [Design { repeats: 1, ..design }, Design { samples: 1, ..design }, Design { cases: 2, ..design }]
        {
            assert_eq!(spread_shares(&planted([0.1; 5], design, 1)), None);
        }
        assert_eq!(spread_shares(&planted([0.0; 5], design, 1)), None, "nothing varies");
        assert_eq!(spread_shares(&[]), None);
    }
}
