export interface Snippet {
  id: string
  title: string
  text: string
}

/** How a new key is used, ready to copy. `url` is the gateway's, without a path. */
export function snippetsOf(url: string, secret: string, model: string): Snippet[] {
  return [
    {
      id: 'curl',
      title: 'curl',
      text: `curl ${url}/v1/chat/completions \\
  -H 'authorization: Bearer ${secret}' \\
  -H 'content-type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
    },
    {
      id: 'openai',
      title: 'OpenAI SDK',
      text: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${secret}' })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
    },
    {
      id: 'messages',
      title: 'Messages SDK',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${url}', authToken: '${secret}' })
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.content)`,
    },
  ]
}
