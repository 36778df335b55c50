// Vercel's AI SDK, with its provider for OpenAI or the one for whatever speaks OpenAI's API.
import { createHash } from 'node:crypto';
import {
  embedMany, experimental_generateSpeech as say, experimental_transcribe as transcribe, generateImage, generateText, isStepCount, Output, streamText, tool as defined, jsonSchema,
} from 'ai';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { picture, recording, schema, tool } from './samples.mjs';

const sum = (bytes) => createHash('sha256').update(bytes).digest('hex');

export async function connect(options, provider) {
  const official = provider === 'openai';
  const client = official ? createOpenAI(options) : createOpenAICompatible({ name: 'proxy', includeUsage: false, supportsStructuredOutputs: true, ...options });
  const withUsage = official ? client : createOpenAICompatible({ name: 'proxy', includeUsage: true, ...options });
  const chatModel = (ask) => (official ? client.chat(ask.model) : (ask.usage ? withUsage : client).chatModel(ask.model));
  const completionModel = (ask) => (official ? client.completion(ask.model) : (ask.usage ? withUsage : client).completionModel(ask.model));
  const asked = (ask, model) => ({
    model, prompt: ask.prompt, maxOutputTokens: ask.limit, providerOptions: { openai: { store: false } },
    ...(ask.tools ? { tools: { jump: defined({ description: tool.description, inputSchema: jsonSchema(tool.parameters) }) } } : {}),
  });
  const calls = (list) => list.map((c) => ({ name: c.toolName, arguments: JSON.stringify(c.input) }));

  async function text(ask, seen, model) {
    const answer = await generateText(asked(ask, model));
    Object.assign(seen, { text: answer.text, usage: answer.usage.totalTokens ?? 0, finish: answer.finishReason, calls: calls(answer.toolCalls), reasoning: answer.reasoningText });
  }
  async function stream(ask, seen, model) {
    const stop = new AbortController();
    const answer = streamText({ ...asked(ask, model), abortSignal: stop.signal, onError: () => {} });
    for await (const part of answer.fullStream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta') {
        seen.text += part.text;
        seen.pieces++;
      }
      if (part.type === 'reasoning-delta') seen.reasoning = (seen.reasoning ?? '') + part.text;
      if (part.type === 'tool-call') (seen.calls ??= []).push(...calls([part]));
      if (part.type === 'finish') Object.assign(seen, { usage: part.totalUsage.totalTokens ?? 0, finish: part.finishReason });
      if (seen.pieces === ask.stopAfter && ask.stopAfter > 0) {
        stop.abort();
        break;
      }
    }
    seen.left = Date.now();
  }
  // loop calls functions, and leaves what is stored to the SDK: its second step names what the first thought and said.
  const loop = (ask) => ({
    model: client.responses(ask.model), prompt: ask.prompt, maxOutputTokens: ask.limit, stopWhen: isStepCount(2),
    tools: { jump: defined({ description: tool.description, inputSchema: jsonSchema(tool.parameters), execute: async () => ({ height: '1m' }) }) },
  });
  function looped(seen, steps, usage) {
    const named = steps[0].content.filter((part) => part.type === 'reasoning' || part.type === 'text').map((part) => part.providerMetadata?.openai?.itemId);
    Object.assign(seen, { ids: named, text: steps.at(-1).text, calls: calls(steps[0].toolCalls), usage: usage.totalTokens });
  }
  async function begun(ask, seen) {
    const first = await generateText({ ...asked(ask, client.responses(ask.model)), providerOptions: {} });
    Object.assign(seen, { ids: [first.providerMetadata.openai.responseId], usage: first.usage.totalTokens });
    const next = ask.other ? createOpenAI({ ...options, apiKey: ask.other }) : client;
    return { ...asked(ask, next.responses(ask.model)), providerOptions: { openai: { previousResponseId: seen.ids[0] } } };
  }
  const ops = {
    async goOn(ask, seen) {
      const second = await generateText(await begun(ask, seen));
      seen.text = second.text;
      seen.usage += second.usage.totalTokens;
    },
    async goOnStream(ask, seen) {
      const second = streamText({ ...await begun(ask, seen), onError: () => {} });
      for await (const part of second.fullStream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'text-delta') seen.text += part.text;
        if (part.type === 'finish') seen.usage += part.totalUsage.totalTokens;
      }
    },
    async loopOwn(ask, seen) {
      const answer = await generateText(loop(ask));
      looped(seen, answer.steps, answer.totalUsage);
    },
    async loopOwnStream(ask, seen) {
      const answer = streamText({ ...loop(ask), onError: () => {} });
      for await (const part of answer.fullStream) if (part.type === 'error') throw part.error;
      looped(seen, await answer.steps, await answer.totalUsage);
    },
    chat: (ask, seen) => text(ask, seen, chatModel(ask)),
    chatStream: (ask, seen) => stream(ask, seen, chatModel(ask)),
    response: (ask, seen) => text(ask, seen, client.responses(ask.model)),
    responseStream: (ask, seen) => stream(ask, seen, client.responses(ask.model)),
    // responseEnd looks at what the SDK holds in the end, beside what it was sent, and at what has begun and not ended.
    async responseEnd(ask, seen) {
      const answer = streamText({ ...asked(ask, client.responses(ask.model)), onError: () => {} });
      const open = new Set();
      let sent = '';
      for await (const part of answer.fullStream) {
        if (part.type === 'error') throw part.error;
        if (/^(text|reasoning|tool-input)-start$/.test(part.type)) open.add(part.id);
        if (/^(text|reasoning|tool-input)-end$/.test(part.type)) open.delete(part.id);
        if (part.type === 'text-delta') seen.text += part.text;
        if (part.type === 'reasoning-delta') seen.reasoning = (seen.reasoning ?? '') + part.text;
        if (part.type === 'tool-input-delta') sent += part.delta;
      }
      const whole = (input) => (typeof input === 'string' ? input : JSON.stringify(input));
      Object.assign(seen, { usage: (await answer.totalUsage).totalTokens, finish: await answer.finishReason, texts: [await answer.text, (await answer.reasoningText) ?? ''] });
      seen.calls = [{ name: 'sent', arguments: sent }, ...(await answer.toolCalls).map((c) => ({ name: c.toolName, arguments: whole(c.input) }))];
      seen.names = [...open];
    },
    completion: (ask, seen) => text(ask, seen, completionModel(ask)),
    completionStream: (ask, seen) => stream(ask, seen, completionModel(ask)),
    async structured(ask, seen) {
      seen.object = (await generateText({ ...asked(ask, chatModel(ask)), output: Output.object({ schema }) })).output;
    },
    async structuredStream(ask, seen) {
      seen.object = await streamText({ ...asked(ask, chatModel(ask)), output: Output.object({ schema }) }).output;
    },
    async toolLoop(ask, seen) {
      const tools = { jump: defined({ description: tool.description, inputSchema: jsonSchema(tool.parameters), execute: async () => ({ height: '1m' }) }) };
      const model = official ? client.responses(ask.model) : chatModel(ask);
      const answer = await generateText({ ...asked(ask, model), tools, stopWhen: isStepCount(2) });
      Object.assign(seen, { text: answer.text, calls: calls(answer.steps[0].toolCalls) });
    },
    async toolLoopStream(ask, seen) {
      const tools = { jump: defined({ description: tool.description, inputSchema: jsonSchema(tool.parameters), execute: async () => ({ height: '1m' }) }) };
      const model = official ? client.responses(ask.model) : chatModel(ask);
      const answer = streamText({ ...asked(ask, model), tools, stopWhen: isStepCount(2), onError: () => {} });
      for await (const part of answer.fullStream) if (part.type === 'error') throw part.error;
      const steps = await answer.steps;
      Object.assign(seen, { text: steps.at(-1).text, calls: calls(steps[0].toolCalls) });
    },
    async embed(ask, seen) {
      const answer = await embedMany({ model: official ? client.embedding(ask.model) : client.embeddingModel(ask.model), values: ask.inputs });
      Object.assign(seen, { vectors: answer.embeddings, usage: answer.usage.tokens });
    },
    async picture(ask, seen) {
      const answer = await generateImage({ model: official ? client.image(ask.model) : client.imageModel(ask.model), prompt: ask.prompt, n: ask.n });
      seen.sums = answer.images.map((i) => sum(i.uint8Array));
    },
    async pictureEdit(ask, seen) {
      const answer = await generateImage({ model: client.image(ask.model), prompt: { text: ask.prompt, images: [picture] } });
      seen.sums = answer.images.map((i) => sum(i.uint8Array));
    },
    async speech(ask, seen) {
      const answer = await say({ model: client.speech(ask.model), text: ask.prompt, voice: 'alloy', ...(ask.format ? { outputFormat: ask.format } : {}) });
      seen.sums = [sum(answer.audio.uint8Array)];
    },
    async transcribe(ask, seen) {
      seen.text = (await transcribe({ model: client.transcription(ask.model), audio: recording })).text;
    },
  };
  return ops;
}
