//! Settings that may be written in several forms: a number, a word, a list or a table.

/// Reads a type by what its text begins with. By hand and not as an untagged enum: those forget what was wrong and where.
macro_rules! forms {
    (
        $name:ident, $expecting:literal
        $(, number => $number:expr)?
        $(, word $word:ty => $from_word:expr)?
        $(, list => $list:expr)?
        $(, table $table:ty => $from_table:expr)?
    ) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Forms;
                impl<'de> serde::de::Visitor<'de> for Forms {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    $(
                        fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Self::Value, E> {
                            Ok($number(v))
                        }
                        fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Self::Value, E> {
                            Ok($number(v as f64))
                        }
                        fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Self::Value, E> {
                            Ok($number(v as f64))
                        }
                    )?
                    $(
                        fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Self::Value, E> {
                            let word = serde::de::value::StrDeserializer::new(v);
                            <$word as serde::Deserialize>::deserialize(word).map($from_word)
                        }
                    )?
                    $(
                        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                            super::visit::collect(seq).map($list)
                        }
                    )?
                    $(
                        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                            let table = serde::de::value::MapAccessDeserializer::new(map);
                            <$table as serde::Deserialize>::deserialize(table).map($from_table)
                        }
                    )?
                }
                deserializer.deserialize_any(Forms)
            }
        }
    };
}
pub(super) use forms;
