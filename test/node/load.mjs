// Calls the proxy without a rest, with the official OpenAI client, until standard input ends. Each attempt prints a line of JSON
// before it is sent, and one when it has ended, with all that has arrived.
// Usage: BASE_URL=… KEYS='{"name":"secret",…}' MODELS='["…"]' WORKERS=3 node load.mjs
import OpenAI from 'openai';

const keys = Object.entries(JSON.parse(process.env.KEYS));
const models = JSON.parse(process.env.MODELS);
let ending = false;
process.stdin.on('end', () => { ending = true; });
process.stdin.resume();

const one = (list) => list[Math.floor(Math.random() * list.length)];
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');
let number = 0;

async function call() {
  const marker = `n${String(++number).padStart(6, '0')}`;
  const [key, secret] = one(keys);
  const attempts = [];
  const client = new OpenAI({
    apiKey: secret, baseURL: process.env.BASE_URL, maxRetries: 1,
    fetch: async (url, init) => {
      const attempt = { name: `${marker}-${attempts.length}`, key, status: 0, text: '' };
      attempts.push(attempt);
      const headers = new Headers(init.headers);
      headers.set('x-tokenfare-label', attempt.name);
      headers.set('traceparent', attempt.name);
      say({ name: attempt.name, key });
      const response = await fetch(url, { ...init, headers });
      attempt.status = response.status;
      const decoder = new TextDecoder();
      const noted = new TransformStream({ transform(chunk, to) { attempt.text += decoder.decode(chunk, { stream: true }); to.enqueue(chunk); } });
      return new Response(response.body.pipeThrough(noted), { status: response.status, headers: response.headers });
    },
  });
  const stream = Math.random() < 0.5;
  const request = { model: one(models), stream, max_completion_tokens: 60, messages: [{ role: 'user', content: `Say some colours, ${marker}.` }] };
  if (stream && Math.random() < 0.5) request.stream_options = { include_usage: true };
  try {
    const answer = await client.chat.completions.create(request);
    if (stream) for await (const chunk of answer) void chunk;
  } catch {
    // Its attempts say how it went.
  }
  for (const attempt of attempts) say({ ...attempt, ended: true });
}

async function work() {
  while (!ending) {
    await call();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  }
}

await Promise.all(Array.from({ length: Number(process.env.WORKERS) }, work));
