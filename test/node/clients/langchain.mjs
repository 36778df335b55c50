// LangChain's classes for OpenAI.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { schema, tool } from './samples.mjs';

export async function connect({ apiKey, ...configuration }) {
  const chat = (ask, more = {}) => {
    const model = new ChatOpenAI({ apiKey, configuration, model: ask.model, maxTokens: ask.limit, streamUsage: Boolean(ask.usage), ...more });
    return ask.tools ? model.bindTools([{ type: 'function', function: tool }]) : model;
  };
  const stored = { useResponsesApi: true, zdrEnabled: true }; // it keeps nothing at the provider
  const next = (ask) => chat(ask, { useResponsesApi: true, ...(ask.other ? { apiKey: ask.other } : {}) });
  const calls = (message) => message.tool_calls?.map((c) => ({ name: c.name, arguments: JSON.stringify(c.args) }));

  async function invoke(ask, seen, model) {
    const answer = await model.invoke(ask.prompt);
    Object.assign(seen, { text: answer.text ?? answer.content, usage: answer.usage_metadata?.total_tokens ?? 0, calls: calls(answer) });
    seen.finish = answer.response_metadata?.finish_reason ?? answer.response_metadata?.status;
  }
  async function stream(ask, seen, model) {
    const stop = new AbortController();
    let whole;
    for await (const chunk of await model.stream(ask.prompt, { signal: stop.signal })) {
      seen.pieces++;
      seen.text += typeof chunk === 'string' ? chunk : chunk.text;
      if (typeof chunk !== 'string') whole = whole ? whole.concat(chunk) : chunk;
      if (seen.pieces === ask.stopAfter) {
        seen.left = Date.now();
        stop.abort();
        break;
      }
    }
    Object.assign(seen, { usage: whole?.usage_metadata?.total_tokens ?? 0, calls: whole && calls(whole) });
    seen.left ??= Date.now();
  }
  return {
    chat: (ask, seen) => invoke(ask, seen, chat(ask)),
    chatStream: (ask, seen) => stream(ask, seen, chat(ask)),
    response: (ask, seen) => invoke(ask, seen, chat(ask, stored)),
    responseStream: (ask, seen) => stream(ask, seen, chat(ask, stored)),
    async structured(ask, seen) {
      seen.object = await chat(ask).withStructuredOutput(schema, { method: 'jsonSchema' }).invoke(ask.prompt);
    },
    async structuredStream(ask, seen) {
      for await (const part of await chat(ask).withStructuredOutput(schema, { method: 'jsonSchema' }).stream(ask.prompt)) seen.object = part;
    },
    async toolLoop(ask, seen) {
      const model = chat(ask, stored);
      const messages = [new HumanMessage(ask.prompt)];
      const first = await model.invoke(messages);
      seen.calls = calls(first);
      messages.push(new AIMessage(first), ...first.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: '{"height":"1m"}' })));
      seen.text = (await model.invoke(messages)).text;
    },
    async goOn(ask, seen) {
      const first = await chat(ask, { useResponsesApi: true }).invoke(ask.prompt);
      seen.ids = [first.response_metadata.id];
      const second = await next(ask).invoke(ask.prompt, { previous_response_id: seen.ids[0] });
      Object.assign(seen, { text: second.text, usage: first.usage_metadata.total_tokens + second.usage_metadata.total_tokens });
    },
    async loopWhole(ask, seen) {
      const messages = [new HumanMessage(ask.prompt)];
      const first = await chat(ask, { useResponsesApi: true }).invoke(messages);
      seen.ids = [first.additional_kwargs.reasoning?.id];
      seen.calls = calls(first);
      messages.push(first, ...first.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: '{"height":"1m"}' })));
      const second = await next(ask).invoke(messages);
      Object.assign(seen, { text: second.text, usage: first.usage_metadata.total_tokens + second.usage_metadata.total_tokens });
    },
    async completion(ask, seen) {
      seen.text = await new OpenAI({ apiKey, configuration, model: ask.model, maxTokens: ask.limit }).invoke(ask.prompt);
    },
    completionStream: (ask, seen) => stream(ask, seen, new OpenAI({ apiKey, configuration, model: ask.model, maxTokens: ask.limit })),
    async embed(ask, seen) {
      const model = new OpenAIEmbeddings({ apiKey, configuration, model: ask.model, ...(ask.format ? { encodingFormat: ask.format } : {}) });
      seen.vectors = await model.embedDocuments(ask.inputs);
    },
  };
}
