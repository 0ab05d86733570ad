//! Reading an enum whose first field says which variant it is.
//!
//! Serde's own reading of `#[serde(tag = "…")]` keeps all of a document in memory before it knows the variant, because the tag
//! may stand anywhere. What this program writes has it at the beginning: then the variant is read as it comes.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Hands an object out as an enum of the variant that the field `tag` names.
pub(super) struct TagFirst<D> {
    pub(super) tag: &'static str,
    pub(super) inner: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for TagFirst<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(Object { tag: self.tag, visitor })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Object<V> {
    tag: &'static str,
    visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", self.tag)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<V::Value, A::Error> {
        let missing = || A::Error::missing_field(self.tag);
        let first: String = fields.next_key()?.ok_or_else(missing)?;
        if first == self.tag {
            return self.visitor.visit_enum(Tagged(fields));
        }
        // Somebody else wrote it, or sorted its fields.
        let mut all = serde_json::Map::from_iter([(first, fields.next_value()?)]);
        while let Some((key, value)) = fields.next_entry()? {
            all.insert(key, value);
        }
        let tag = all.remove(self.tag).ok_or_else(missing)?;
        let tagged = std::iter::once((self.tag.to_owned(), tag)).chain(all);
        let mut fields = MapDeserializer::new(tagged);
        fields.next_key::<IgnoredAny>().map_err(A::Error::custom)?;
        self.visitor.visit_enum(Tagged(fields)).map_err(A::Error::custom)
    }
}

/// The fields of an object, of which the tag's value is the next.
struct Tagged<A>(A);

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Tagged<A> {
    type Error = A::Error;
    type Variant = VariantFields<A>;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, variant: V) -> Result<(V::Value, VariantFields<A>), A::Error> {
        Ok((self.0.next_value_seed(variant)?, VariantFields(self.0)))
    }
}

/// The fields of a variant.
struct VariantFields<A>(A);

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for VariantFields<A> {
    type Error = A::Error;

    fn unit_variant(mut self) -> Result<(), A::Error> {
        while self.0.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
}
