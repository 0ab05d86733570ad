// An agent with a REST interface of its own, by Node's standard library: POST /talks, POST /talks/ID, GET /talks/ID.
//
// It answers with server-sent events, a word each, remembers what was said in each talk, and wants a key.

const http = require('node:http');

const talks = new Map();

function answer(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

function stream(response, said, count) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  response.write(': here it comes\n\n');
  const words = `You said: ${said} (${count})`;
  for (const word of words.split(/(?<= )/)) {
    response.write(`event: word\ndata: ${JSON.stringify({ reply: { words: word } })}\n\n`);
  }
  response.end(`data: ${JSON.stringify({ tokens: { in: [...said].length, out: [...words].length } })}\n\ndata: [DONE]\n\n`);
}

http.createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = JSON.parse(Buffer.concat(pieces).toString() || '{}');
  if (request.url === '/health') return answer(response, 200, { up: true });
  const talk = decodeURIComponent(request.url.replace('/talks/', ''));
  if (request.method === 'GET') {
    return talks.has(talk) ? answer(response, 200, { heard: talks.get(talk) }) : answer(response, 404, { error: 'no such talk' });
  }
  if (request.headers['x-key'] !== 'peer-key') return answer(response, 401, { error: 'who are you?' });
  if (request.url === '/talks') {
    const id = `talk ${talks.size + 1}`;
    talks.set(id, []);
    return answer(response, 201, { talk: { id } });
  }
  if (!talks.has(talk)) return answer(response, 404, { error: 'no such talk' });
  talks.get(talk).push(body.say);
  stream(response, body.say, talks.get(talk).length);
}).listen(Number(process.env.PORT), '127.0.0.1');
