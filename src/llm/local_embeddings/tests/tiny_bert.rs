//! A BERT of one layer with random weights: its files, and its arithmetic by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

const WIDTH: usize = 8;
const HEADS: usize = 2;
const INNER: usize = 16;
const WORDS: [&str; 7] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "dog"];
const POSITIONS: usize = 12;
const LAYER: &str = "encoder.layer.0";

/// `config.json`.
pub(super) fn config() -> Value {
    json!({
        "model_type": "bert", "vocab_size": WORDS.len(), "hidden_size": WIDTH, "num_hidden_layers": 1,
        "num_attention_heads": HEADS, "intermediate_size": INNER, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "initializer_range": 0.02,
        "layer_norm_eps": 1e-12, "pad_token_id": 0
    })
}

/// `tokenizer.json`, which asks for padding to ten tokens and cuts off after nine; `first` is the id of `[CLS]`.
pub(super) fn tokenizer(first: u32) -> String {
    let vocabulary: BTreeMap<&str, u32> = WORDS.into_iter().zip(0..).collect();
    let special = |token: &str, id: u32| json!({"id": token, "ids": [id], "tokens": [token]});
    let part = |kind: &str, id: &str| json!({kind: {"id": id, "type_id": 0}});
    let single = [part("SpecialToken", "[CLS]"), part("Sequence", "A"), part("SpecialToken", "[SEP]")];
    json!({
        "version": "1.0",
        "truncation": {"max_length": 9, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 10}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": [part("Sequence", "A"), part("Sequence", "B")],
            "special_tokens": {"[CLS]": special("[CLS]", first), "[SEP]": special("[SEP]", 3)}},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary}
    })
    .to_string()
}

/// The weights by their names, row after row.
pub(super) struct TinyBert(BTreeMap<String, (Vec<usize>, Vec<f32>)>);

impl TinyBert {
    pub(super) fn random(seed: u64) -> TinyBert {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut weights = BTreeMap::new();
        let mut add = |name: String, shape: &[usize]| {
            let values = (0..shape.iter().product()).map(|_| random.f32() * 2.0 - 1.0).collect();
            weights.insert(name, (shape.to_vec(), values));
        };
        add("embeddings.word_embeddings.weight".to_owned(), &[WORDS.len(), WIDTH]);
        add("embeddings.position_embeddings.weight".to_owned(), &[POSITIONS, WIDTH]);
        add("embeddings.token_type_embeddings.weight".to_owned(), &[2, WIDTH]);
        for (name, out, inner) in [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ] {
            add(format!("{LAYER}.{name}.weight"), &[out, inner]);
            add(format!("{LAYER}.{name}.bias"), &[out]);
        }
        for name in ["embeddings".to_owned(), format!("{LAYER}.attention.output"), format!("{LAYER}.output")] {
            add(format!("{name}.LayerNorm.weight"), &[WIDTH]);
            add(format!("{name}.LayerNorm.bias"), &[WIDTH]);
        }
        TinyBert(weights)
    }

    /// Writes the folder, laid out as sentence-transformers does.
    pub(super) fn write(&self, folder: &Path) {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        for (name, (shape, values)) in &self.0 {
            let start = data.len();
            data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            header.insert(name.clone(), json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]}));
        }
        let header = serde_json::to_vec(&header).unwrap();
        let file = [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat();
        fs::create_dir_all(folder.join("1_Pooling")).unwrap();
        for (name, content) in [
            ("model.safetensors", file),
            ("config.json", config().to_string().into_bytes()),
            ("tokenizer.json", tokenizer(2).into_bytes()),
            ("sentence_bert_config.json", br#"{"max_seq_length": 8, "do_lower_case": false}"#.to_vec()),
            (
                "1_Pooling/config.json",
                br#"{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"#.to_vec(),
            ),
        ] {
            fs::write(folder.join(name), content).unwrap();
        }
    }

    /// The mean of all tokens after one layer.
    pub(super) fn embedding(&self, tokens: &[usize]) -> Vec<f64> {
        let states: Vec<Vec<f64>> = (tokens.iter().enumerate())
            .map(|(position, token)| {
                let word = self.row("embeddings.word_embeddings", *token);
                let summed = added(&word, &self.row("embeddings.position_embeddings", position));
                self.norm("embeddings", &added(&summed, &self.row("embeddings.token_type_embeddings", 0)))
            })
            .collect();
        let all = |name: &str| states.iter().map(|state| self.linear(name, state)).collect::<Vec<_>>();
        let (queries, keys, values) =
            (all("attention.self.query"), all("attention.self.key"), all("attention.self.value"));
        let size = WIDTH / HEADS;
        let mut mean = vec![0.0; WIDTH];
        for (state, query) in states.iter().zip(&queries) {
            let mut attended = vec![0.0; WIDTH];
            for head in (0..HEADS).map(|head| head * size..(head + 1) * size) {
                let score = |key: &Vec<f64>| {
                    let dot: f64 = query[head.clone()].iter().zip(&key[head.clone()]).map(|(q, k)| q * k).sum();
                    (dot / (size as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = keys.iter().map(score).collect();
                let total: f64 = scores.iter().sum();
                for (score, value) in scores.iter().zip(&values) {
                    head.clone().for_each(|at| attended[at] += score / total * value[at]);
                }
            }
            let attended = self.linear("attention.output.dense", &attended);
            let attended = self.norm(&format!("{LAYER}.attention.output"), &added(&attended, state));
            let inner: Vec<f64> = self.linear("intermediate.dense", &attended).into_iter().map(gelu).collect();
            let out = added(&self.linear("output.dense", &inner), &attended);
            mean = added(&mean, &self.norm(&format!("{LAYER}.output"), &out));
        }
        mean.into_iter().map(|sum| sum / tokens.len() as f64).collect()
    }

    fn weights(&self, name: &str) -> Vec<f64> {
        self.0[name].1.iter().map(|weight| f64::from(*weight)).collect()
    }

    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        self.weights(&format!("{name}.weight"))[row * WIDTH..(row + 1) * WIDTH].to_vec()
    }

    fn linear(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let weights = self.weights(&format!("{LAYER}.{name}.weight"));
        let products = weights.chunks(input.len()).map(|row| row.iter().zip(input).map(|(w, x)| w * x).sum());
        added(&products.collect::<Vec<f64>>(), &self.weights(&format!("{LAYER}.{name}.bias")))
    }

    fn norm(&self, name: &str, state: &[f64]) -> Vec<f64> {
        let mean = state.iter().sum::<f64>() / WIDTH as f64;
        let variance = state.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / WIDTH as f64;
        let scaled: Vec<f64> = (state.iter().zip(self.weights(&format!("{name}.LayerNorm.weight"))))
            .map(|(x, weight)| (x - mean) / variance.sqrt() * weight)
            .collect();
        added(&scaled, &self.weights(&format!("{name}.LayerNorm.bias")))
    }
}

fn added(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one + other).collect()
}

/// x times the normal distribution at x: its series, which ends soon for numbers as small as here.
fn gelu(x: f64) -> f64 {
    let z = x / 2.0_f64.sqrt();
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    x * 0.5 * (1.0 + 2.0 / std::f64::consts::PI.sqrt() * sum)
}
