//! Whether what is limited can be counted.

use super::Refusal;
use crate::agent::Ability;
use crate::job::{Job, ModelName};
use crate::money::PriceTable;

/// Models that cost nobody knows how much, where `limits.cost` must be kept.
pub(super) fn refusals(job: &Job, models: &[String], prices: &PriceTable) -> Vec<Refusal> {
    if job.limits.cost.is_none() {
        return Vec::new();
    }
    let own = [("the persona", job.persona_model()), ("the judge", job.judge_model())];
    let own = own.into_iter().filter_map(|(role, model)| Some((role, model?)));
    let own =
        own.filter(|(_, model)| model.name != ModelName::Scripted).map(|(role, model)| (role, model.name.to_string()));
    // Tokens that an agent never reports can't be counted anyway; the report says that it is unknown.
    let reports = job.target.transport.can(Ability::ReportsUsage);
    let agents = models.iter().filter(|_| reports).map(|model| ("the agent", model.clone()));
    let mut unknown: Vec<(String, Vec<&str>)> = Vec::new();
    for (role, model) in own.chain(agents).filter(|(_, model)| prices.price(model).is_none()) {
        match unknown.iter_mut().find(|(known, _)| *known == model) {
            Some((_, roles)) => roles.push(role),
            None => unknown.push((model, vec![role])),
        }
    }
    let refusal = |(model, roles): (String, Vec<&str>)| Refusal {
        what: format!(
            "limits.cost can't be kept: what {model} costs is not known, the model of {}",
            roles.join(" and ")
        ),
        help: format!(
            "say it in a file, in dollars a million tokens: --prices FILE with models: {{\"{model}\": {{input: 0.4, output: \
             1.6}}}}; or limit the tokens: limits: {{tokens: 200000}}"
        ),
    };
    unknown.into_iter().map(refusal).collect()
}
