import { inJs, inPython, pythonArguments, type Snippet, type SnippetSource } from './snippet.ts'

/** Code for the SDKs that speak the endpoint's format. */
export function sdkSnippets(source: SnippetSource): Snippet[] {
  if (source.endpoint === '/v1/messages') {
    return [messagesJs(source), messagesPython(source), aiSdk(source), langchain(source)]
  }
  const call = openaiCalls[source.endpoint]
  if (call === undefined) return []
  const snippets = [openaiJs(source, call), openaiPython(source, call)]
  return isChat(source.endpoint) ? [...snippets, aiSdk(source), langchain(source)] : snippets
}

interface OpenaiCall {
  method: string
  /** What to read of the answer, and of each event of a stream. */
  result: string
  pythonResult: string
  event?: { js: string; python: string }
}

const openaiCalls: Readonly<Record<string, OpenaiCall>> = {
  '/v1/chat/completions': {
    method: 'chat.completions.create',
    result: 'answer.choices[0].message.content',
    pythonResult: 'answer.choices[0].message.content',
    event: {
      js: `process.stdout.write(event.choices[0]?.delta?.content ?? '')`,
      python: 'print((event.choices[0].delta.content or "") if event.choices else "", end="")',
    },
  },
  '/v1/responses': {
    method: 'responses.create',
    result: 'answer.output_text',
    pythonResult: 'answer.output_text',
    event: {
      js: `if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)`,
      python: 'print(event.delta if event.type == "response.output_text.delta" else "", end="")',
    },
  },
  '/v1/embeddings': {
    method: 'embeddings.create',
    result: 'answer.data[0].embedding.length',
    pythonResult: 'len(answer.data[0].embedding)',
  },
  '/v1/images/generations': {
    method: 'images.generate',
    result: 'answer.data[0].url ?? answer.data[0].b64_json',
    pythonResult: 'answer.data[0].url or answer.data[0].b64_json',
  },
}

function isChat(endpoint: string): boolean {
  return ['/v1/chat/completions', '/v1/responses', '/v1/messages'].includes(endpoint)
}

const jsKey = (secret: string | undefined) =>
  secret === undefined ? 'process.env.TOLLGATE_KEY' : inJs(secret)
const pythonKey = (secret: string | undefined) =>
  secret === undefined ? 'os.environ["TOLLGATE_KEY"]' : inPython(secret)
const pythonImports = (secret: string | undefined, line: string) =>
  secret === undefined ? `import os\n\n${line}` : line

function openaiJs({ origin, request, secret }: SnippetSource, call: OpenaiCall): Snippet {
  const event = request.stream === true ? call.event?.js : undefined
  return {
    id: 'openai-js',
    title: 'OpenAI SDK, JS',
    before: 'npm install openai',
    text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${inJs(`${origin}/v1`)},
  apiKey: ${jsKey(secret)},
})

${jsCall(`client.${call.method}`, request, event, call.result)}`,
  }
}

function openaiPython({ origin, request, secret }: SnippetSource, call: OpenaiCall): Snippet {
  const event = request.stream === true ? call.event?.python : undefined
  return {
    id: 'openai-python',
    title: 'OpenAI SDK, Python',
    before: 'pip install openai',
    text: `${pythonImports(secret, 'from openai import OpenAI')}

client = OpenAI(
    base_url=${inPython(`${origin}/v1`)},
    api_key=${pythonKey(secret)},
)

${pythonCall(`client.${call.method}`, request, event, call.pythonResult)}`,
  }
}

/** The SDK adds `/v1` itself. */
function messagesJs({ origin, request, secret }: SnippetSource): Snippet {
  const event =
    request.stream === true
      ? `if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') process.stdout.write(event.delta.text)`
      : undefined
  const result = `answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')`
  return {
    id: 'messages-js',
    title: 'Messages SDK, JS',
    before: 'npm install @anthropic-ai/sdk',
    text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: ${inJs(origin)},
  apiKey: ${jsKey(secret)},
})

${jsCall('client.messages.create', request, event, result)}`,
  }
}

function messagesPython({ origin, request, secret }: SnippetSource): Snippet {
  const event =
    request.stream === true
      ? 'if event.type == "content_block_delta" and event.delta.type == "text_delta":\n        print(event.delta.text, end="")'
      : undefined
  return {
    id: 'messages-python',
    title: 'Messages SDK, Python',
    before: 'pip install anthropic',
    text: `${pythonImports(secret, 'import anthropic')}

client = anthropic.Anthropic(
    base_url=${inPython(origin)},
    api_key=${pythonKey(secret)},
)

${pythonCall('client.messages.create', request, event, '"".join(block.text for block in answer.content if block.type == "text")')}`,
  }
}

function jsCall(method: string, request: object, event: string | undefined, result: string): string {
  if (event === undefined) return `const answer = await ${method}(${inJs(request)})\nconsole.log(${result})`
  return `const stream = await ${method}(${inJs(request)})\nfor await (const event of stream) {\n  ${event}\n}`
}

function pythonCall(
  method: string,
  request: Readonly<Record<string, unknown>>,
  event: string | undefined,
  result: string,
): string {
  const call = `${method}(\n${pythonArguments(request)}\n)`
  if (event === undefined) return `answer = ${call}\nprint(${result})`
  return `stream = ${call}\nfor event in stream:\n    ${event}`
}

/**
 * Its own words for a request: the model, the last text and the bound of the answer; the rest of the request
 * is not in it.
 */
function aiSdk({ origin, endpoint, request, secret }: SnippetSource): Snippet {
  const isMessages = endpoint === '/v1/messages'
  const [name, maker, method] = isMessages
    ? ['anthropic', 'createAnthropic', '']
    : ['openai', 'createOpenAI', endpoint === '/v1/responses' ? '.responses' : '.chat']
  const model = `tollgate${method}(${inJs(String(request.model ?? ''))})`
  const isStream = request.stream === true
  const bound = boundOf(request)
  const call = `{ model: ${model}, prompt: ${inJs(lastText(request))}${bound === undefined ? '' : `, maxOutputTokens: ${bound}`} }`
  return {
    id: 'ai-sdk',
    title: 'AI SDK',
    before: `npm install ai @ai-sdk/${name}`,
    text: `import { ${maker} } from '@ai-sdk/${name}'
import { ${isStream ? 'streamText' : 'generateText'} } from 'ai'

const tollgate = ${maker}({
  baseURL: ${inJs(`${origin}/v1`)},
  apiKey: ${jsKey(secret)},
})

${
  isStream
    ? `const { textStream } = streamText(${call})
for await (const part of textStream) process.stdout.write(part)`
    : `const { text } = await generateText(${call})
console.log(text)`
}`,
  }
}

function langchain({ origin, endpoint, request, secret }: SnippetSource): Snippet {
  const isMessages = endpoint === '/v1/messages'
  const [file, name, base] = isMessages
    ? ['langchain_anthropic', 'ChatAnthropic', origin]
    : ['langchain_openai', 'ChatOpenAI', `${origin}/v1`]
  const bound = boundOf(request)
  const most = bound === undefined ? '' : `\n    max_tokens=${bound},`
  const responses = endpoint === '/v1/responses' ? '\n    use_responses_api=True,' : ''
  return {
    id: 'langchain',
    title: 'LangChain',
    before: `pip install ${file.replace('_', '-')}`,
    text: `${pythonImports(secret, `from ${file} import ${name}`)}

model = ${name}(
    base_url=${inPython(base)},
    api_key=${pythonKey(secret)},
    model=${inPython(String(request.model ?? ''))},${most}${responses}
)

${
  request.stream === true
    ? `for part in model.stream(${inPython(lastText(request))}):\n    print(part.text, end="")`
    : `print(model.invoke(${inPython(lastText(request))}).text)`
}`,
  }
}

/** The most tokens of the answer, in any of the formats. */
function boundOf(request: Readonly<Record<string, unknown>>): number | undefined {
  const { max_completion_tokens, max_output_tokens, max_tokens } = request
  return [max_completion_tokens, max_output_tokens, max_tokens].find((bound) => typeof bound === 'number')
}

/** What the user said last, in any of the formats. */
export function lastText(request: Readonly<Record<string, unknown>>): string {
  const said = request.messages ?? request.input
  if (typeof said === 'string') return said
  if (!Array.isArray(said)) return 'Hello'
  const last = said.findLast((message) => message?.role === 'user')?.content
  if (typeof last === 'string') return last
  if (!Array.isArray(last)) return 'Hello'
  const text = last.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('')
  return text === '' ? 'Hello' : text
}
