// The official client, in the version that the package's name says.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { schema, tool, picture, recording, notes } from './samples.mjs';
import { storedOps } from './stored.mjs';

// fetchOf is what the client sends with where it is left the choice: version 4 uploads what the platform's fetch does not take.
export const fetchOf = async (name) => (name === 'openai4' ? (await import('node-fetch')).default : fetch);

export async function connect(options, name) {
  const { default: OpenAI, toFile } = await import(name);
  const { zodResponseFormat } = await import(`${name}/helpers/zod`);
  const client = new OpenAI(options);
  const parsing = client.chat.completions.parse ? client.chat.completions : client.beta.chat.completions;

  const chat = (ask) => ({
    model: ask.model, messages: [{ role: 'user', content: ask.prompt }], max_completion_tokens: ask.limit,
    ...(ask.usage ? { stream_options: { include_usage: true } } : {}), ...(ask.tools ? { tools: [{ type: 'function', function: tool }] } : {}),
  });
  const response = (ask) => ({
    model: ask.model, input: ask.prompt, max_output_tokens: ask.limit, store: false,
    ...(ask.tools ? { tools: [{ type: 'function', strict: true, ...tool }] } : {}),
  });
  const call = (name, args) => ({ name, arguments: args });
  const sum = (bytes) => createHash('sha256').update(bytes).digest('hex');

  const next = (ask) => (ask.other ? new OpenAI({ ...options, apiKey: ask.other }) : client);

  const ops = {
    ...storedOps({ client, next, response, call, file: () => toFile(Buffer.from(notes), 'notes.txt', { type: 'text/plain' }) }),
    async chat(ask, seen) {
      const answer = await client.chat.completions.create(chat(ask));
      const { message, finish_reason } = answer.choices[0];
      Object.assign(seen, { text: message.content ?? '', usage: answer.usage?.total_tokens ?? 0, finish: finish_reason, requestID: answer._request_id });
      seen.calls = message.tool_calls?.map((c) => call(c.function.name, c.function.arguments));
    },
    async chatStream(ask, seen) {
      const calls = [];
      for await (const chunk of await client.chat.completions.create({ ...chat(ask), stream: true })) {
        seen.pieces++;
        seen.usage += chunk.usage?.total_tokens ?? 0;
        if (chunk.choices.length === 0) seen.withoutChoices = (seen.withoutChoices ?? 0) + 1;
        for (const { delta, finish_reason } of chunk.choices) {
          seen.text += delta.content ?? '';
          seen.finish = finish_reason ?? seen.finish;
          for (const c of delta.tool_calls ?? []) {
            calls[c.index] ??= call(c.function.name, '');
            calls[c.index].arguments += c.function.arguments;
          }
        }
        if (seen.pieces === ask.stopAfter) break; // drops the connection
      }
      seen.left = Date.now();
      if (calls.length > 0) seen.calls = calls;
    },
    async structured(ask, seen) {
      const answer = await parsing.parse({ ...chat(ask), response_format: zodResponseFormat(schema, 'animal') });
      seen.object = answer.choices[0].message.parsed;
    },
    async structuredStream(ask, seen) {
      const stream = (client.chat.completions.stream ? client.chat.completions : client.beta.chat.completions)
        .stream({ ...chat(ask), response_format: zodResponseFormat(schema, 'animal') });
      seen.object = (await stream.finalChatCompletion()).choices[0].message.parsed;
    },
    async response(ask, seen) {
      const answer = await client.responses.create(response(ask));
      Object.assign(seen, { text: answer.output_text, usage: answer.usage.total_tokens, finish: answer.status });
      seen.calls = answer.output.filter((i) => i.type === 'function_call').map((i) => call(i.name, i.arguments));
    },
    async responseStream(ask, seen) {
      let last = -1;
      for await (const event of await client.responses.create({ ...response(ask), stream: true })) {
        if (event.sequence_number !== last + 1) throw new Error(`event ${event.sequence_number} after ${last}`);
        last = event.sequence_number;
        seen.pieces++;
        if (event.type === 'response.output_text.delta') seen.text += event.delta;
        if (event.type === 'response.reasoning_summary_text.delta') seen.reasoning = (seen.reasoning ?? '') + event.delta;
        if (event.type === 'response.function_call_arguments.done') (seen.calls ??= []).push(call(event.name, event.arguments));
        if (/^response\.(completed|incomplete|failed)$/.test(event.type)) {
          Object.assign(seen, { usage: event.response.usage.total_tokens, finish: event.response.status });
        }
        if (seen.pieces === ask.stopAfter) break;
      }
      seen.left = Date.now();
    },
    // responseEnd looks at what the client holds in the end, beside what it was sent.
    async responseEnd(ask, seen) {
      const { tools, ...rest } = response(ask);
      const stream = client.responses.stream({ ...rest, ...(tools ? { tools: tools.map((t) => ({ ...t, strict: false })) } : {}) });
      const sent = { arguments: '', reasoning: '' };
      let last = -1;
      for await (const event of stream) {
        if (event.sequence_number !== last + 1) throw new Error(`event ${event.sequence_number} after ${last}`);
        last = event.sequence_number;
        if (event.type === 'response.output_text.delta') seen.text += event.delta;
        if (event.type === 'response.reasoning_summary_text.delta') sent.reasoning += event.delta;
        if (event.type === 'response.function_call_arguments.delta') sent.arguments += event.delta;
      }
      const end = await stream.finalResponse();
      const item = (type) => end.output.filter((i) => i.type === type);
      Object.assign(seen, { usage: end.usage.total_tokens, finish: `${end.status} ${end.incomplete_details?.reason}`, reasoning: sent.reasoning });
      seen.texts = [end.output_text, item('reasoning').flatMap((i) => i.summary).map((p) => p.text).join('')];
      seen.calls = [call('sent', sent.arguments), ...item('function_call').map((i) => call(i.name, i.arguments))];
      seen.names = end.output.map((i) => `${i.type} ${i.status}`);
    },
    async toolLoop(ask, seen) {
      const first = await client.responses.create(response(ask));
      const input = [{ role: 'user', content: ask.prompt }, ...first.output];
      for (const c of first.output.filter((i) => i.type === 'function_call')) {
        (seen.calls ??= []).push(call(c.name, c.arguments));
        input.push({ type: 'function_call_output', call_id: c.call_id, output: '{"height":"1m"}' });
      }
      seen.text = (await client.responses.create({ ...response(ask), input })).output_text;
    },
    async completion(ask, seen) {
      const answer = await client.completions.create({ model: ask.model, prompt: ask.prompt, max_tokens: ask.limit });
      Object.assign(seen, { text: answer.choices[0].text, usage: answer.usage.total_tokens });
    },
    async completionStream(ask, seen) {
      const usage = ask.usage ? { stream_options: { include_usage: true } } : {};
      for await (const chunk of await client.completions.create({ model: ask.model, prompt: ask.prompt, max_tokens: ask.limit, stream: true, ...usage })) {
        seen.pieces++;
        seen.usage += chunk.usage?.total_tokens ?? 0;
        seen.text += chunk.choices[0]?.text ?? '';
      }
    },
    async embed(ask, seen) {
      const answer = await client.embeddings.create({ model: ask.model, input: ask.inputs, ...(ask.format ? { encoding_format: ask.format } : {}) });
      seen.vectors = answer.data.map((d) => (typeof d.embedding === 'string' ? decoded(d.embedding) : [...d.embedding]));
      seen.usage = answer.usage.total_tokens;
    },
    async moderate(ask, seen) {
      seen.flags = (await client.moderations.create({ model: ask.model, input: ask.inputs })).results.map((r) => r.flagged);
    },
    async picture(ask, seen) {
      const answer = await client.images.generate({ model: ask.model, prompt: ask.prompt, n: ask.n });
      Object.assign(seen, { sums: answer.data.map((d) => sum(Buffer.from(d.b64_json, 'base64'))), usage: answer.usage?.total_tokens ?? 0 });
    },
    async pictureStream(ask, seen) {
      for await (const event of await client.images.generate({ model: ask.model, prompt: ask.prompt, stream: true, partial_images: 2 })) {
        seen.pieces++;
        seen.finish = event.type;
        seen.usage = event.usage?.total_tokens ?? 0;
      }
    },
    async pictureEdit(ask, seen) {
      const answer = await client.images.edit({ model: ask.model, prompt: ask.prompt, image: await toFile(picture, 'picture.png', { type: 'image/png' }) });
      seen.sums = answer.data.map((d) => sum(Buffer.from(d.b64_json, 'base64')));
    },
    async pictureEditStream(ask, seen) {
      const image = await toFile(picture, 'picture.png', { type: 'image/png' });
      for await (const event of await client.images.edit({ model: ask.model, prompt: ask.prompt, image, stream: true, partial_images: 2 })) {
        seen.pieces++;
        seen.finish = event.type;
        seen.usage = event.usage?.total_tokens ?? 0;
        seen.sums = [sum(Buffer.from(event.b64_json, 'base64'))];
      }
    },
    async pictureVariation(ask, seen) {
      const image = await toFile(picture, 'picture.png', { type: 'image/png' });
      const answer = await client.images.createVariation({ model: ask.model, image, response_format: 'b64_json' });
      seen.sums = answer.data.map((d) => sum(Buffer.from(d.b64_json, 'base64')));
    },
    async speech(ask, seen) {
      const answer = await client.audio.speech.create({ model: ask.model, input: ask.prompt, voice: 'alloy', ...(ask.format ? { response_format: ask.format } : {}) });
      seen.sums = [sum(Buffer.from(await answer.arrayBuffer()))];
    },
    async speechStream(ask, seen) {
      const answer = await client.audio.speech.create({ model: ask.model, input: ask.prompt, voice: 'alloy', stream_format: 'sse' });
      const events = (await answer.text()).split('\n\n').filter(Boolean).map((e) => JSON.parse(e.replace(/^data: /, '')));
      seen.sums = [sum(Buffer.concat(events.filter((e) => e.audio).map((e) => Buffer.from(e.audio, 'base64'))))];
      seen.usage = events.at(-1).usage.total_tokens;
    },
    async transcribe(ask, seen) {
      const file = await toFile(recording, 'recording.wav');
      const answer = await client.audio.transcriptions.create({ model: ask.model, file, ...(ask.format ? { response_format: ask.format } : {}) });
      seen.text = typeof answer === 'string' ? answer : answer.text;
    },
    async transcribeStream(ask, seen) {
      const file = await toFile(recording, 'recording.wav');
      for await (const event of await client.audio.transcriptions.create({ model: ask.model, file, stream: true })) {
        seen.pieces++;
        seen.text += event.delta ?? '';
        seen.finish = event.type;
      }
    },
    async translate(ask, seen) {
      const file = await toFile(recording, 'recording.wav');
      const answer = await client.audio.translations.create({ model: ask.model, file, ...(ask.format ? { response_format: ask.format } : {}) });
      seen.text = typeof answer === 'string' ? answer : answer.text;
    },
    async models(ask, seen) {
      seen.names = [];
      for await (const m of client.models.list()) seen.names.push(m.id);
    },
  };
  return ops;
}

function decoded(base64) {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}
