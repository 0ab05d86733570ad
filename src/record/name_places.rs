//! Names that come again and again, each kept once.

use std::collections::HashMap;

/// Names in the order in which they first came; elsewhere each is its place, from 0.
#[derive(Debug, Clone, Default)]
pub struct NamePlaces {
    names: Vec<String>,
    places: HashMap<Box<str>, u32>,
}

impl NamePlaces {
    /// The place of a name, which is added where it is new.
    pub fn place_of(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.places.insert(name.into(), place);
        place
    }

    /// The names by their places.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names by their places, where no more come.
    pub fn into_names(self) -> Vec<String> {
        self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_place_however_often_it_comes() {
        let mut names = NamePlaces::default();
        assert_eq!(["a", "b", "a", "", "b"].map(|name| names.place_of(name)), [0, 1, 0, 2, 1]);
        assert_eq!(names.names(), ["a", "b", ""]);
        assert_eq!(names.into_names().len(), 3);
    }
}
