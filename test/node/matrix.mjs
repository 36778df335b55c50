// Does what lines of JSON on standard input ask for with one client, and prints what a program would see of it, one line
// of JSON each. Usage: node matrix.mjs CLIENT, where CLIENT is a file in clients/, and after a colon the package it is for.
import { createInterface } from 'node:readline';

const [file, variant] = process.argv[2].split(':');
const { connect, fetchOf } = await import(`./clients/${file}.mjs`);

const send = (await fetchOf?.(variant)) ?? fetch;

async function carryOut(ask) {
  const seen = { id: ask.id, text: '', pieces: 0, usage: 0, tries: [] };
  const spy = async (url, init) => { // every HTTP exchange the client makes on its own account
    const at = Date.now();
    const response = await send(url, init);
    if (String(url.url ?? url).startsWith('data:')) return response; // how some find out what fetch can do
    seen.tries.push({ at, status: response.status, ms: Number(response.headers.get('retry-after-ms')), ended: Date.now() });
    return response;
  };
  ask.prompt = (ask.prompt ?? '').repeat(ask.repeat || 1);
  try {
    const client = await connect({ apiKey: ask.key, baseURL: ask.baseURL, fetch: spy }, variant);
    if (ask.parallel) {
      const all = await Promise.all(Array.from({ length: ask.parallel }, async () => {
        const one = { text: '', pieces: 0, usage: 0 };
        await client[ask.do](ask, one);
        return one.text;
      }));
      seen.texts = all;
    } else {
      await client[ask.do](ask, seen);
    }
  } catch (thrown) {
    const error = thrown.lastError ?? thrown; // what the AI SDK gives up with holds the last answer
    const body = error.data?.error ?? error; // and its errors hold OpenAI's object
    seen.error = {
      class: error.constructor.name, status: error.status ?? error.statusCode ?? 0, code: String(body.code ?? ''), type: String(body.type ?? ''),
      param: String(body.param ?? ''), message: String(error.message),
    };
  }
  console.log(JSON.stringify(seen));
}

for await (const line of createInterface({ input: process.stdin })) await carryOut(JSON.parse(line));
