//! The promises about changes of a level, tried on series whose truth is known: how often one is reported where there is none, how
//! often a planted one is found, and where.

use super::*;

/// How the values of nights are drawn: 0 to 1.
#[derive(Debug, Clone, Copy)]
enum SimulatedNights {
    /// Each night 20 conversations, which pass or fail.
    PassFail,
    /// One conversation a night, which passes or fails.
    OneConversation,
    /// Mostly near 1, with a tail towards 0.
    Skewed,
    /// Quarters, so that many are the same.
    Ties,
    /// Always the same.
    Same,
}

const ALL: [SimulatedNights; 5] = [
    SimulatedNights::PassFail,
    SimulatedNights::OneConversation,
    SimulatedNights::Skewed,
    SimulatedNights::Ties,
    SimulatedNights::Same,
];

impl SimulatedNights {
    fn draw(self, rng: &mut fastrand::Rng) -> f64 {
        let passes = |chance: f64, rng: &mut fastrand::Rng| f64::from(u8::from(rng.f64() < chance));
        match self {
            SimulatedNights::PassFail => (0..20).map(|_| passes(0.8, rng)).sum::<f64>() / 20.0,
            SimulatedNights::OneConversation => passes(0.8, rng),
            SimulatedNights::Skewed => rng.f64().powf(0.2),
            SimulatedNights::Ties => (rng.f64() * 4.0).round() / 4.0,
            SimulatedNights::Same => 1.0,
        }
    }
}

fn dated(value: f64, rng: &mut fastrand::Rng) -> Dated {
    Dated { value, lot: rng.u64(..) }
}

/// The share of series in which a change is ever reported.
fn alarm_rate(tries: u32, mut series: impl FnMut(&mut fastrand::Rng) -> Vec<Dated>) -> f64 {
    let mut rng = fastrand::Rng::with_seed(16);
    let count = (0..tries).filter(|_| !changes(&series(&mut rng)).found.is_empty()).count();
    count as f64 / f64::from(tries)
}

/// The sum of twelve uniform draws is near enough to normal.
fn normal(rng: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

#[test]
fn an_agent_that_stays_as_it_is_is_rarely_said_to_have_changed_however_often_one_looks() {
    for nights in ALL {
        for (count, tries) in [(5, 400), (10, 400), (30, 300), (100, 60)] {
            let rate = alarm_rate(tries, |rng| {
                (0..count)
                    .map(|_| {
                        let value = nights.draw(rng);
                        dated(value, rng)
                    })
                    .collect()
            });
            let error = (FALSE_ALARMS * (1.0 - FALSE_ALARMS) / f64::from(tries)).sqrt();
            assert!(rate <= FALSE_ALARMS + error, "{nights:?}, {count} nights: {rate}");
        }
    }
}

#[test]
fn a_planted_fall_is_found_within_a_week_and_placed() {
    // Nights of 0.8 with a standard deviation of 0.012, as of 30 cases that are run three times; then 0.05 less.
    for (before, within) in [(10, 7), (20, 6), (60, 5)] {
        let mut rng = fastrand::Rng::with_seed(7);
        let (tries, mut found, mut placed) = (120, 0, 0);
        for _ in 0..tries {
            let level = |night: usize| if night < before { 0.8 } else { 0.75 };
            let series: Vec<Dated> = (0..before + within)
                .map(|night| {
                    let value = level(night) + 0.012 * normal(&mut rng);
                    dated(value, &mut rng)
                })
                .collect();
            let change = changes(&series).found.last().copied();
            found += u32::from(change.is_some());
            placed += u32::from(change.is_some_and(|it| it.since.abs_diff(before) <= 1));
        }
        let share = |count: u32| f64::from(count) / f64::from(tries);
        assert!(share(found) >= 0.9, "{before}: {}", share(found));
        assert!(share(placed) >= 0.95 * share(found), "{before}: {} of {}", share(placed), share(found));
    }
}

#[test]
fn nights_that_follow_each_other_alarm_more_often() {
    // The promise is for nights that could have come in any order. This is what becomes of it where each is like the last.
    let following = |alike: f64| {
        alarm_rate(200, |rng| {
            let mut last = 0.0;
            (0..40)
                .map(|_| {
                    last = alike * last + normal(rng);
                    dated(last, rng)
                })
                .collect()
        })
    };
    let rates = [0.0, 0.2, 0.5].map(following);
    assert!(rates[0] <= 0.05 && rates[1] < 0.15 && rates[2] > 0.05, "{rates:?}");
}
