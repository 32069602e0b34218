// The official TypeScript SDK's tool runner, driven by a plan on the standard input:
// where the server is, which tools there are and what each call is answered. It prints
// the text of the last message and how many messages came.
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

const plan = JSON.parse(await text(process.stdin));

const run = (_input, context) => {
  const answer = plan.answers[context.toolUse.id];
  if (answer === undefined) throw new ToolError(`no answer for ${context.toolUse.id}`);
  if (answer.error) throw new ToolError(answer.text);
  return answer.text;
};

const tools = plan.tools.map(({ name, description, schema }) =>
  plan.zod
    ? betaZodTool({ name, description, inputSchema: z.object({ city: z.string() }), run })
    : betaTool({ name, description, inputSchema: schema, run }),
);

const client = new Anthropic({ baseURL: plan.url, apiKey: 'none', maxRetries: 0 });
const runner = client.beta.messages.toolRunner({
  model: 'served', max_tokens: 1024, tools, stream: plan.stream,
  ...(plan.stream ? { runToolsEagerly: plan.eager } : {}),
  messages: [{ role: 'user', content: plan.prompt }],
});

let messages = 0;
let last;
for await (const item of runner) {
  last = plan.stream ? await item.finalMessage() : item;
  messages++;
}
const said = last.content.filter((b) => b.type === 'text').map((b) => b.text).join('\n');
process.stdout.write(JSON.stringify({ messages, said }));
