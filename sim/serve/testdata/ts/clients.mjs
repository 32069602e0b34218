// The clients that people use, each driven by a plan on the standard input: the official SDKs
// of Anthropic, OpenAI and Google, and Vercel's AI SDK with each provider. It prints the text of
// the last message.
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { text } from 'node:stream/consumers';
import OpenAI from 'openai';
import { GoogleGenAI } from '@google/genai';
import { generateText, streamText, stepCountIs, tool, jsonSchema } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createGoogleGenerativeAI } from '@ai-sdk/google';

const plan = JSON.parse(await text(process.stdin));

// answer is what the tool gives for a city; one that is an error is thrown.
const answer = ({ city }) => {
  const a = plan.cities[city];
  if (a === undefined) throw new Error(`no answer for ${city}`);
  if (a.error) throw new Error(a.text);
  return a.text;
};
const answered = (input) => {
  try { return answer(input); } catch (err) { return `Error: ${err.message}`; }
};
const { name, description, schema } = plan.tools[0];
const openai = () => new OpenAI({ baseURL: `${plan.url}/v1`, apiKey: 'none' });

async function anthropic() {
  const runner = new Anthropic({ baseURL: plan.url, apiKey: 'none' }).beta.messages.toolRunner({
    model: 'claude', max_tokens: 1024, stream: plan.stream, messages: [{ role: 'user', content: plan.prompt }],
    tools: [betaTool({ name, description, inputSchema: schema, run: answer })],
  });
  let last;
  for await (const item of runner) last = plan.stream ? await item.finalMessage() : item;
  return last.content.map((b) => b.text ?? '').join('');
}

async function openaiChat() {
  const runner = openai().chat.completions.runTools({
    model: 'gpt', stream: plan.stream, messages: [{ role: 'user', content: plan.prompt }],
    tools: [{ type: 'function', function: { name, description, parameters: schema, parse: JSON.parse, function: answered } }],
  });
  return runner.finalContent();
}

async function openaiResponses() {
  const input = [{ role: 'user', content: plan.prompt }];
  const tools = [{ type: 'function', name, description, parameters: schema, strict: false }];
  for (;;) {
    const request = { model: 'gpt', input, tools, store: false };
    const reply = plan.stream ? await openai().responses.stream(request).finalResponse() : await openai().responses.create(request);
    const calls = reply.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return reply.output_text;
    input.push(...reply.output);
    for (const c of calls) input.push({ type: 'function_call_output', call_id: c.call_id, output: answered(JSON.parse(c.arguments)) });
  }
}

// openaiKept leaves the conversation with the provider.
async function openaiKept() {
  const tools = [{ type: 'function', name, description, parameters: schema, strict: false }];
  let input = [{ role: 'user', content: plan.prompt }];
  let previous_response_id;
  for (;;) {
    const request = { model: 'gpt', input, tools, previous_response_id };
    const reply = plan.stream ? await openai().responses.stream(request).finalResponse() : await openai().responses.create(request);
    const calls = reply.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return reply.output_text;
    previous_response_id = reply.id;
    input = calls.map((c) => ({ type: 'function_call_output', call_id: c.call_id, output: answered(JSON.parse(c.arguments)) }));
  }
}

async function genai() {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: plan.url, retryOptions: { attempts: 4 } } });
  const contents = [{ role: 'user', parts: [{ text: plan.prompt }] }];
  const request = { model: 'gemini', contents, config: { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }] } };
  for (;;) {
    const parts = [];
    if (plan.stream) {
      for await (const piece of await client.models.generateContentStream(request)) parts.push(...(piece.candidates?.[0]?.content?.parts ?? []));
    } else {
      parts.push(...(await client.models.generateContent(request)).candidates[0].content.parts);
    }
    const calls = parts.filter((p) => p.functionCall).map((p) => p.functionCall);
    if (calls.length === 0) return parts.map((p) => p.text ?? '').join('');
    contents.push({ role: 'model', parts });
    contents.push({ role: 'user', parts: calls.map((c) => ({ functionResponse: { id: c.id, name: c.name, response: respond(c.args) } })) });
  }
}
const respond = (args) => {
  try { return { output: answer(args) }; } catch (err) { return { error: err.message }; }
};

async function vercel(model) {
  const request = {
    model, prompt: plan.prompt, stopWhen: stepCountIs(8), maxRetries: 3,
    tools: { [name]: tool({ description, inputSchema: jsonSchema(schema), execute: async (input) => answer(input) }) },
  };
  if (!plan.stream) return (await generateText(request)).text;
  const result = streamText({ ...request, onError: ({ error }) => { throw error; } });
  return result.text;
}

const clients = {
  anthropic,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'openai-kept': openaiKept,
  genai,
  'vercel-anthropic': () => vercel(createAnthropic({ baseURL: `${plan.url}/v1`, apiKey: 'none' })('claude')),
  'vercel-chat': () => vercel(createOpenAI({ baseURL: `${plan.url}/v1`, apiKey: 'none' }).chat('gpt')),
  'vercel-responses': () => vercel(createOpenAI({ baseURL: `${plan.url}/v1`, apiKey: 'none' }).responses('gpt-4.1')),
  'vercel-google': () => vercel(createGoogleGenerativeAI({ baseURL: `${plan.url}/v1beta`, apiKey: 'none' })('gemini')),
};
process.stdout.write(JSON.stringify({ said: await clients[plan.client]() }));
