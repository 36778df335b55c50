// Runs one scenario with the official OpenAI client and prints what a program would see of it, as one JSON object.
// Usage: BASE_URL=… API_KEY=… node driver.mjs SCENARIO MODEL
import OpenAI from 'openai';

const [scenario, model] = process.argv.slice(2);
const tries = []; // every HTTP exchange the client makes on its own account
const client = new OpenAI({
  apiKey: process.env.API_KEY,
  baseURL: process.env.BASE_URL,
  fetch: async (url, init) => {
    const at = Date.now();
    const response = await fetch(url, init);
    tries.push({ at, status: response.status, ms: Number(response.headers.get('retry-after-ms')), ended: Date.now() });
    return response;
  },
});
const request = { model, messages: [{ role: 'user', content: 'What did the quick brown fox jump over?' }], max_completion_tokens: 100 };

async function stream(options, stopAfter = Infinity) {
  const seen = { text: '', chunks: 0, withoutChoices: 0, usage: 0 };
  const answer = await client.chat.completions.create({ ...request, stream: true, ...options });
  for await (const chunk of answer) {
    seen.chunks++;
    seen.usage += chunk.usage?.total_tokens ?? 0;
    if (chunk.choices.length === 0) seen.withoutChoices++;
    else seen.text += chunk.choices[0].delta.content ?? '';
    if (seen.chunks === stopAfter) break; // drops the connection
  }
  return seen;
}

const scenarios = {
  async plain() {
    const answer = await client.chat.completions.create(request);
    return { text: answer.choices[0].message.content, usage: answer.usage.total_tokens, requestID: answer._request_id };
  },
  stream: () => stream({}),
  streamWithUsage: () => stream({ stream_options: { include_usage: true } }),
  async abort() {
    const seen = await stream({}, 10);
    seen.left = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 300)); // the process lives on; only the call is dropped
    return seen;
  },
  async tools() {
    const tools = [{ type: 'function', function: { name: 'jump', parameters: { type: 'object', properties: { over: { type: 'string' } } } } }];
    const first = await client.chat.completions.create({ ...request, tools });
    const call = first.choices[0].message.tool_calls[0];
    const messages = [...request.messages, first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: '{"height":"1m"}' }];
    const second = await client.chat.completions.create({ ...request, tools, messages });
    return { call: call.function, text: second.choices[0].message.content };
  },
  async models() {
    const names = [];
    for await (const m of client.models.list()) names.push(m.id);
    return { names };
  },
  async usage() {
    return { budgets: (await client.get('/usage')).budgets };
  },
};

let result = {};
try {
  result = await scenarios[scenario]();
} catch (error) {
  result.error = { class: error.constructor.name, status: error.status, code: error.code, type: error.type, message: error.message };
}
console.log(JSON.stringify({ ...result, tries }));
