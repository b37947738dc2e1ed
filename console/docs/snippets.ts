/** A program that asks a model, in one of the ways that clients have. */
export interface Snippet {
  id: string
  /** The name of its tab. */
  label: string
  language: 'python' | 'sh' | 'ts'
  /** With `__GATEWAY__` for the address of the gateway and `__MODEL__` for the model's id. */
  text: string
}

export type SnippetKind = 'chat' | 'messages' | 'responses' | 'images' | 'embeddings'

/** The way with each kind of endpoint. The key is always read from the environment. */
export const snippets: Readonly<Record<SnippetKind, readonly Snippet[]>> = {
  chat: [
    {
      id: 'openai-python',
      label: 'OpenAI Python',
      language: 'python',
      text: `import os
from openai import OpenAI

client = OpenAI(
    base_url="__GATEWAY__/v1",
    api_key=os.environ["TOLLGATE_KEY"],
)
answer = client.chat.completions.create(
    model="__MODEL__",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    },
    {
      id: 'openai-ts',
      label: 'OpenAI TypeScript',
      language: 'ts',
      text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '__GATEWAY__/v1',
  apiKey: process.env.TOLLGATE_KEY,
})
const answer = await client.chat.completions.create({
  model: '__MODEL__',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0]?.message.content)`,
    },
    {
      id: 'ai-sdk',
      label: 'AI SDK',
      language: 'ts',
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const tollgate = createOpenAICompatible({
  name: 'tollgate',
  baseURL: '__GATEWAY__/v1',
  apiKey: process.env.TOLLGATE_KEY,
})
const { text } = await generateText({ model: tollgate('__MODEL__'), prompt: 'Hello' })
console.log(text)`,
    },
    {
      id: 'langchain',
      label: 'LangChain',
      language: 'python',
      text: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="__MODEL__",
    base_url="__GATEWAY__/v1",
    api_key=os.environ["TOLLGATE_KEY"],
)
print(model.invoke("Hello").content)`,
    },
    {
      id: 'curl',
      label: 'curl',
      language: 'sh',
      text: `curl __GATEWAY__/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "__MODEL__", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
  ],
  messages: [
    {
      id: 'messages-ts',
      label: 'Messages SDK',
      language: 'ts',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '__GATEWAY__',
  apiKey: process.env.TOLLGATE_KEY,
})
const answer = await client.messages.create({
  model: '__MODEL__',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.content)`,
    },
    {
      id: 'messages-python',
      label: 'Messages Python',
      language: 'python',
      text: `import os
from anthropic import Anthropic

client = Anthropic(
    base_url="__GATEWAY__",
    api_key=os.environ["TOLLGATE_KEY"],
)
answer = client.messages.create(
    model="__MODEL__",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content)`,
    },
  ],
  responses: [
    {
      id: 'responses-ts',
      label: 'OpenAI Responses',
      language: 'ts',
      text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '__GATEWAY__/v1',
  apiKey: process.env.TOLLGATE_KEY,
})
const answer = await client.responses.create({ model: '__MODEL__', input: 'Hello' })
console.log(answer.output_text)`,
    },
  ],
  images: [
    {
      id: 'openai-python',
      label: 'OpenAI Python',
      language: 'python',
      text: `import os
from openai import OpenAI

client = OpenAI(
    base_url="__GATEWAY__/v1",
    api_key=os.environ["TOLLGATE_KEY"],
)
answer = client.images.generate(model="__MODEL__", prompt="A red bicycle")
print(answer.data[0])`,
    },
    {
      id: 'openai-ts',
      label: 'OpenAI TypeScript',
      language: 'ts',
      text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '__GATEWAY__/v1',
  apiKey: process.env.TOLLGATE_KEY,
})
const answer = await client.images.generate({ model: '__MODEL__', prompt: 'A red bicycle' })
console.log(answer.data?.[0])`,
    },
    {
      id: 'curl',
      label: 'curl',
      language: 'sh',
      text: `curl __GATEWAY__/v1/images/generations \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "__MODEL__", "prompt": "A red bicycle"}'`,
    },
  ],
  embeddings: [
    {
      id: 'openai-python',
      label: 'OpenAI Python',
      language: 'python',
      text: `import os
from openai import OpenAI

client = OpenAI(
    base_url="__GATEWAY__/v1",
    api_key=os.environ["TOLLGATE_KEY"],
)
answer = client.embeddings.create(model="__MODEL__", input="Hello")
print(len(answer.data[0].embedding))`,
    },
    {
      id: 'openai-ts',
      label: 'OpenAI TypeScript',
      language: 'ts',
      text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '__GATEWAY__/v1',
  apiKey: process.env.TOLLGATE_KEY,
})
const answer = await client.embeddings.create({ model: '__MODEL__', input: 'Hello' })
console.log(answer.data[0]?.embedding.length)`,
    },
    {
      id: 'curl',
      label: 'curl',
      language: 'sh',
      text: `curl __GATEWAY__/v1/embeddings \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "__MODEL__", "input": "Hello"}'`,
    },
  ],
}
