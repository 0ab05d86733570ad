//! Rules that stand in for a model.
