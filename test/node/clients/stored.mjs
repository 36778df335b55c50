// What is stored at the provider, with the official client: it is gone on from, named, read and deleted.
const outcome = '{"height":"1m"}';

// storedOps are the operations of it. next is the client that does what follows the first step: with ask.other, it has another key.
export function storedOps({ client, next, response, call, file }) {
  const kept = (ask) => ({ ...response(ask), store: true });
  const remove = (resource, id) => (resource.delete ?? resource.del).call(resource, id);

  async function make(ask, seen, more) {
    const answer = await client.responses.create({ ...kept(ask), ...more });
    (seen.ids ??= []).push(answer.id);
    seen.usage += answer.usage.total_tokens;
    return answer;
  }
  async function finish(ask, seen, more) {
    const answer = await next(ask).responses.create({ ...kept(ask), ...more });
    seen.text = answer.output_text;
    seen.usage += answer.usage.total_tokens;
  }
  async function upload(ask, seen) {
    const made = await client.files.create({ file: await file(), purpose: 'user_data' });
    (seen.ids ??= []).push(made.id);
    return made.id;
  }
  // called has the functions called, and returns the answer that does so and what the functions return.
  async function called(ask, seen) {
    const first = await make(ask, seen);
    const wanted = first.output.filter((i) => i.type === 'function_call');
    seen.calls = wanted.map((c) => call(c.name, c.arguments));
    return { first, results: wanted.map((c) => ({ type: 'function_call_output', call_id: c.call_id, output: outcome })) };
  }
  // begun is a conversation that somebody has said something in.
  async function begun(seen, said) {
    const { id } = await client.conversations.create({ items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: said }] }] });
    seen.ids = [id];
    return id;
  }
  const question = (ask) => ({ role: 'user', content: ask.prompt });
  const listed = async (list) => {
    const ids = [];
    for await (const one of list) ids.push(one.id);
    return ids;
  };

  return {
    async countInput(ask, seen) {
      seen.count = (await client.responses.inputTokens.count({ model: ask.model, input: ask.prompt })).input_tokens;
    },
    async countInputOf(ask, seen) {
      const first = await make(ask, seen);
      seen.count = (await next(ask).responses.inputTokens.count({ model: ask.model, input: ask.prompt, previous_response_id: first.id })).input_tokens;
    },
    async goOn(ask, seen) {
      const first = await make(ask, seen);
      await finish(ask, seen, { previous_response_id: first.id });
    },
    async goOnStream(ask, seen) {
      const first = await make(ask, seen);
      for await (const event of await next(ask).responses.create({ ...kept(ask), previous_response_id: first.id, stream: true })) {
        if (event.type === 'response.output_text.delta') seen.text += event.delta;
        if (event.type === 'response.completed') seen.usage += event.response.usage.total_tokens;
      }
    },
    async converse(ask, seen) {
      const id = await begun(seen, 'My number is seven.');
      await finish(ask, seen, { conversation: id });
    },
    async fileInput(ask, seen) {
      const id = await upload(ask, seen);
      const content = [{ type: 'input_text', text: ask.prompt }, { type: 'input_file', file_id: id }];
      await finish(ask, seen, { input: [{ role: 'user', content }] });
    },
    async loopOn(ask, seen) {
      const { first, results } = await called(ask, seen);
      await finish(ask, seen, { previous_response_id: first.id, input: results });
    },
    async loopItems(ask, seen) {
      const { first, results } = await called(ask, seen);
      seen.ids = first.output.map((i) => i.id);
      await finish(ask, seen, { input: [question(ask), ...seen.ids.map((id) => ({ type: 'item_reference', id })), ...results] });
    },
    async loopWhole(ask, seen) {
      const { first, results } = await called(ask, seen);
      seen.ids = first.output.filter((i) => i.type === 'reasoning').map((i) => i.id);
      await finish(ask, seen, { input: [question(ask), ...first.output, ...results] });
    },
    async keepResponse(ask, seen) {
      const { id } = await make(ask, seen);
      const { responses } = next(ask);
      seen.text = text((await responses.retrieve(id)).output);
      await listed(responses.inputItems.list(id));
      await remove(responses, id);
      await responses.retrieve(id);
    },
    async keepChat(ask, seen) {
      const { id, usage } = await client.chat.completions.create({ model: ask.model, messages: [question(ask)], max_completion_tokens: ask.limit, store: true });
      Object.assign(seen, { ids: [id], usage: usage.total_tokens });
      const { completions } = next(ask).chat;
      seen.names = await listed(completions.list({ limit: 2 }));
      seen.text = (await completions.retrieve(id)).choices[0].message.content;
      await listed(completions.messages.list(id));
      await remove(completions, id);
      await completions.retrieve(id);
    },
    async keepConversation(ask, seen) {
      const id = await begun(seen, ask.prompt);
      const { conversations } = next(ask);
      await conversations.retrieve(id);
      for await (const item of conversations.items.list(id)) seen.text += text([item]);
      await remove(conversations, id);
      await conversations.retrieve(id);
    },
    async keepFile(ask, seen) {
      const id = await upload(ask, seen);
      const { files } = next(ask);
      seen.names = await listed(files.list());
      await files.retrieve(id);
      seen.text = await (await files.content(id)).text();
      await remove(files, id);
      await files.retrieve(id);
    },
  };
}

// text is what the messages of an answer say: version 4 joins it for answers that were just made alone.
const text = (output) => output.flatMap((i) => i.content ?? []).map((part) => part.text).join('');
