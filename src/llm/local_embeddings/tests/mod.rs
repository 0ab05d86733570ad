mod tiny_bert;

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::*;
use crate::evidence::{Message, Role};
use crate::llm::LlmRole;
use crate::llm::cosine::cosine;
use tiny_bert::TinyBert;

fn load(folder: &Path) -> Result<LocalEmbeddings, LlmError> {
    LocalEmbeddings::load(LocalEmbeddingsConfig { name: "tiny".to_owned(), folder: folder.to_path_buf() })
}

fn tiny() -> (tempfile::TempDir, TinyBert) {
    let folder = tempfile::tempdir().unwrap();
    let bert = TinyBert::random(7);
    bert.write(folder.path());
    (folder, bert)
}

fn assert_near(one: &[f64], other: &[f64]) {
    assert_eq!(one.len(), other.len());
    assert!(one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-5), "{one:?}\n{other:?}");
}

#[test]
fn an_embedding_is_the_mean_of_all_tokens_and_of_nothing_else() {
    let (folder, bert) = tiny();
    let model = load(folder.path()).unwrap();
    // [CLS] and [SEP] around the words; what comes after the eighth token is cut off; an unknown word is [UNK].
    for (text, tokens) in [
        ("cat", &[2, 5, 3][..]),
        ("Cat dog", &[2, 5, 6, 3]),
        ("bird", &[2, 1, 3]),
        ("", &[2, 3]),
        ("cat dog cat dog cat dog cat dog cat", &[2, 5, 6, 5, 6, 5, 6, 3]),
    ] {
        assert_near(&model.encoder.embed(text).unwrap(), &bert.embedding(tokens));
    }
}

#[tokio::test]
async fn two_texts_are_answered_by_their_cosine_and_nothing_is_paid() {
    let (folder, bert) = tiny();
    let model = load(folder.path()).unwrap();
    assert_eq!(model.name(), "tiny");
    let asked = |content: &str| LlmRequest {
        role: LlmRole::Judge,
        messages: vec![Message::new(Role::User, content)],
        temperature: 0.0,
        schema: None,
        sample: 1,
        conversation_seed: None,
    };
    let reply = model.complete(&asked(r#"["cat", "dog cat"]"#)).await.unwrap();
    let read: Value = serde_json::from_str(&reply.text).unwrap();
    let expected = cosine(&bert.embedding(&[2, 5, 3]), &bert.embedding(&[2, 6, 5, 3])).unwrap();
    assert!((read["cosine"].as_f64().unwrap() - expected).abs() < 1e-6, "{read} instead of {expected}");
    assert_eq!((reply.usage, reply.notes), (Usage::default(), vec![]));
    assert!(model.complete(&asked("one text")).await.unwrap_err().message.contains("two texts"));
}

#[test]
fn a_folder_that_can_not_work_is_refused_by_the_file_that_says_so() {
    let config = |change: fn(&mut Value)| {
        let mut config: Value = tiny_bert::config();
        change(&mut config);
        Some(config.to_string())
    };
    for (file, content, expected) in [
        ("config.json", None, "there is no config.json in "),
        ("tokenizer.json", None, "there is no tokenizer.json in "),
        ("model.safetensors", None, "there is no model.safetensors in "),
        ("config.json", Some("{".to_owned()), "config.json: EOF"),
        ("config.json", Some("{}".to_owned()), "config.json: this is no BERT (no model_type); only a BERT whose"),
        ("config.json", config(|it| it["model_type"] = "t5".into()), "config.json: this is no BERT (t5)"),
        ("config.json", config(|it| it["hidden_size"] = "8".into()), "config.json: invalid type"),
        ("config.json", config(|it| it["num_attention_heads"] = 0.into()), "num_attention_heads is 0"),
        ("config.json", config(|it| it["num_hidden_layers"] = 2.into()), "model.safetensors: tensor `encoder.layer.1."),
        ("config.json", config(|it| it["intermediate_size"] = 9.into()), "model.safetensors: shape mismatch"),
        ("tokenizer.json", Some("{}".to_owned()), "tokenizer.json: "),
        ("tokenizer.json", Some(tiny_bert::tokenizer(90)), "it does not fit the weights beside it"),
        ("model.safetensors", Some("version https://git-lfs".to_owned()), "model.safetensors: "),
        ("1_Pooling/config.json", Some(r#"{"pooling_mode_cls_token": true}"#.to_owned()), "made by cls_token; only"),
        ("modules.json", Some(r#"[{"type": "a.Transformer"}, {"type": "a.Dense"}]"#.to_owned()), "a module `Dense`"),
    ] {
        let (folder, _) = tiny();
        let path = folder.path().join(file);
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let error = load(folder.path()).err().unwrap_or_else(|| panic!("{file} was taken: {expected}"));
        assert!(error.message.starts_with("scorer.embeddings.folder: "), "{error}");
        assert!(error.message.contains(expected) && !error.message.contains('\n'), "{file}: {error}");
    }
    let error = load(Path::new("nowhere")).err().unwrap();
    assert!(error.message.contains("there is no folder nowhere; a path is relative to the job file"), "{error}");
}
