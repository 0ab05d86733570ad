//! The three calls of Embabel's protocol; other requests get errors in JSON.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, put};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::DemoConfig;
use super::assistant::{Assistant, AssistantError, DemoModel};
use crate::agent::embabel::wire::{MessageRequest, SessionReply, SessionRequest};
use crate::evidence::Role;

pub(super) fn router(assistant: Arc<Assistant>) -> Router {
    Router::new()
        .route("/api/v1/chat/sessions", put(open))
        .route("/api/v1/chat/messages", put(say))
        .route("/api/v1/chat/objectContexts/{session_id}", get(object_context))
        .fallback(
            |uri: Uri| async move { error(StatusCode::NOT_FOUND, format!("There is nothing at {}.", uri.path())) },
        )
        .method_not_allowed_fallback(|| async {
            error(StatusCode::METHOD_NOT_ALLOWED, "Sessions and messages are PUT, object contexts are GET.".to_owned())
        })
        .with_state(assistant)
}

async fn open(State(assistant): State<Arc<Assistant>>, body: Bytes) -> Response {
    let request: SessionRequest = match read(&body) {
        Ok(request) => request,
        Err(response) => return *response,
    };
    if request.user.trim().is_empty() || request.chatbot.trim().is_empty() {
        return error(StatusCode::BAD_REQUEST, "`user` and `chatbot` must not be empty.".to_owned());
    }
    Json(SessionReply { session_id: assistant.open(request.user, request.chatbot).await }).into_response()
}

async fn say(State(assistant): State<Arc<Assistant>>, body: Bytes) -> Response {
    let request: MessageRequest = match read(&body) {
        Ok(request) => request,
        Err(response) => return *response,
    };
    let Some(model) = DemoModel::from_name(&request.model) else {
        let models = DemoConfig::MODELS.map(|model| format!("`{model}`")).join(" and ");
        return error(StatusCode::BAD_REQUEST, format!("There is no model `{}`; there are {models}.", request.model));
    };
    if request.message.role != Role::User.as_str() {
        let role = request.message.role;
        return error(StatusCode::BAD_REQUEST, format!("A message has the role `user`, not `{role}`."));
    }
    match assistant.say(&request.session_id, model, request.message).await {
        Ok(reply) => Json(reply).into_response(),
        Err(failed) => failure(failed),
    }
}

async fn object_context(State(assistant): State<Arc<Assistant>>, Path(session_id): Path<String>) -> Response {
    match assistant.object_context(&session_id).await {
        Ok(context) => Json(context).into_response(),
        Err(failed) => failure(failed),
    }
}

fn failure(failed: AssistantError) -> Response {
    match failed {
        AssistantError::NoSuchSession(id) => error(StatusCode::NOT_FOUND, format!("There is no session `{id}`.")),
        AssistantError::Graph(cause) => {
            error(StatusCode::INTERNAL_SERVER_ERROR, format!("The graph did not do what it was asked: {cause}"))
        }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Box<Response>> {
    serde_json::from_slice(body)
        .map_err(|cause| Box::new(error(StatusCode::BAD_REQUEST, format!("The body can't be read: {cause}."))))
}

fn error(status: StatusCode, error: String) -> Response {
    (status, Json(json!({"error": error}))).into_response()
}
